// The judge of a schedule. It watches every call of the reaper where the cloud receives it, knows
// the cloud's true state at each time, and takes the reaper's journal for what it is: a promise
// made before a deletion, to be compared with the truth. README.md has the table of what is
// checked.
#pragma once

#include <array>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "fakes/fake_journal.hpp"
#include "faults/schedules/broker.hpp"
#include "faults/schedules/gateway.hpp"
#include "faults/schedules/judge_reservations.hpp"
#include "faults/schedules/network.hpp"
#include "faults/schedules/sold_room.hpp"
#include "faults/schedules/truth.hpp"
#include "reaper/ports/pause_switch.hpp"

namespace reaper::faults {

/// Of the races of lender and tenants.
inline constexpr const char* another_lender_waits = "another lender waits (over-evicting 2)";
inline constexpr const char* a_borrower_waits = "a borrower waits (unnecessary reject)";

/// What is counted over all schedules.
struct Tally {
    std::uint64_t schedules = 0;
    std::uint64_t requests = 0;   ///< that Nova refused, or that looked for hosts
    std::uint64_t deletions = 0;  ///< that the cloud accepted from the reaper
    std::uint64_t calls = 0;
    std::uint64_t crashes = 0;
    std::uint64_t with_shared_journal = 0;  ///< schedules
    std::uint64_t displaced = 0;            ///< reapers whose lease another took
    std::uint64_t fenced = 0;               ///< what they tried to write then
    /// Deletions that became wrong between the last look and their arrival: no reaper can prevent
    /// them. By what they became.
    std::map<std::string, std::uint64_t> races;
    std::uint64_t regular_killed = 0;  ///< known to be regular, not by a race
    std::map<std::string, std::uint64_t> freed_rooms;
    std::map<std::string, std::uint64_t> safeguards;  ///< that refused a request
    std::uint64_t judged = 0;                         ///< deletions whose need was judged
    std::uint64_t places = 0;                         ///< plans whose places were
    std::uint64_t reserved = 0;                       ///< changes of `reserved`
    std::uint64_t through_gateway = 0;                ///< schedules with a gateway
    std::uint64_t searches = 0;                       ///< calls of nova-scheduler through it
    std::uint64_t left_searches = 0;                  ///< before their answer
    std::uint64_t left_claims = 0;                    ///< the same
    std::uint64_t told = 0;                ///< hosts that searches were given, and judged
    std::uint64_t claims = 0;              ///< that succeeded, and were judged
    std::uint64_t first_tries_helped = 0;  ///< requests that found no room, and got it
    std::map<std::string, std::uint64_t> first_tries_excused;  ///< that got none, by excuse
    std::uint64_t crashes_with_search = 0;     ///< while nova-scheduler waited for one
    std::uint64_t crashes_serving_search = 0;  ///< ... and its request was being served
    std::uint64_t crashes_with_claim = 0;      ///< while it waited for a claim
    std::uint64_t crashes_serving_claim = 0;   ///< ... and its request was being served
    std::uint64_t crashes_in_cull = 0;         ///< ... or search, whose victims were going
    std::uint64_t crashes_with_escrow = 0;
    std::uint64_t kept = 0;                 ///< changes of what victims hold
    std::uint64_t by_class = 0;             ///< schedules with the tagger `resource`
    std::uint64_t with_reservations = 0;    ///< schedules
    std::uint64_t reservation_writes = 0;   ///< that succeeded
    std::uint64_t reservations_shrunk = 0;  ///< by these
    std::uint64_t tenants_judged = 0;       ///< deletions on hosts where others have reserved room
    /// Of tenants that went for their lender, those whom a race of Mesos' design might have cost:
    /// by the race.
    std::map<std::string, std::uint64_t> lender_races;
    std::uint64_t with_sold_room = 0;  ///< schedules
    std::uint64_t sold_rises = 0;      ///< of published room
    std::uint64_t sold_falls = 0;
    std::uint64_t sold_left_alone = 0;     ///< times that a host went up and down too often
    std::uint64_t corrected = 0;           ///< deletions for their own host
    std::uint64_t corrected_for_load = 0;  ///< of these
    std::uint64_t constrained = 0;         ///< of these, for requests that some hosts refuse
    std::uint64_t notices_kept = 0;        ///< deletions whose notice was judged
    std::uint64_t shelved = 0;             ///< of the deletions, those that shelve a server
    std::uint64_t returned = 0;            ///< servers that the reaper brought back
    std::uint64_t asked_again = 0;         ///< unshelvings whose room was freed
    std::uint64_t left_shelved = 0;        ///< that it shelved, and that still are at the end
    std::map<std::string, std::uint64_t> orders;  ///< schedules by fair shares or bids
    std::map<std::string, std::uint64_t> outcomes;
    std::map<std::string, std::uint64_t> violations;  ///< by rule
    FaultCounts faults{};
};

class Checker final : public CallWatcher, public cloudsim::Listener {
public:
    /// `journals`: one of each machine. The first machine's reaper is the active one.
    using Journals = std::array<test::FakeJournal*, 2>;
    Checker(const SchedulePlan& plan, const Timeline& timeline, cloudsim::Site& site, Truth& truth,
            Journals journals, const Switch& pause, Trace& trace, Tally& tally);

    /// The journal is about to hold this.
    void on_write(const std::string& what);
    /// What it was about to hold then, it holds now.
    void sync_plans();
    bool may_have_culled_room(std::size_t machine, const std::string& request);
    /// Whom to ask which messages the reaper holds.
    void watch(const Broker& broker) { broker_ = &broker; }
    /// And for which nova-scheduler waits.
    void watch(const Gateway& gateway) { gateway_ = &gateway; }
    /// And what the hosts use.
    void watch(const SoldRoom& sold) { sold_ = &sold; }
    void on_acknowledge(const Broker::Stored& message, bool set_aside);
    void on_delivery(const Broker::Stored& message);
    /// An operator ends the pause.
    void on_resume();
    void on_reaper_died(const std::string& why) { blame("crash-loop", "the reaper ended: " + why); }
    /// A process was killed: what it had looked at is forgotten.
    void on_kill();
    /// After it: the reaper of another machine is the active one.
    void on_takeover(std::size_t machine);
    /// The configuration is this from now on.
    void on_reload(const Reloaded& configured) {
        configured_ = configured;
        reservations_.configure(configured.reservations);
    }
    /// Told when the cloud has accepted a deletion.
    void on_accepted_deletion(std::function<void()> told) { accepted_deletion_ = std::move(told); }
    void on_start() {
        started_at_ = timeline_.true_now();
        ++processes_;
    }
    /// The use of a cull's room is still to be journalled.
    bool awaits_freed_room() const;
    /// Room is still held back by `reserved`.
    bool awaits_end_of_hold() const;
    /// Room of victims is still kept in Placement.
    bool awaits_end_of_keeping() const;
    /// Reservations do not hold yet what they should.
    bool awaits_reservations() const;
    /// More is published than the use of the hosts allows.
    bool awaits_sold_room() const;
    /// A server that a reaper shelved is still on its way off its host, or back.
    bool awaits_shelved() const;
    bool keeps_room() const { return !escrow().empty(); }
    /// When all faults are over and time has passed.
    void at_the_end(const Broker& broker);

    test::FakeJournal& journal() const { return *journals_[machine_]; }
    /// The present process.
    TimePoint started_at() const { return started_at_; }
    /// Or half open.
    bool breaker_is_open() const { return circuits_[machine_].cloud.since.has_value(); }
    void blame(const std::string& rule, const std::string& what);
    /// Why a revocable server may not be deleted now; empty if it may.
    std::string why_spared(const cloudsim::Server& server) const;
    bool is_revocable(const cloudsim::Server& server) const;
    /// The request whose victim it is; none: it is no victim.
    std::optional<std::string> victim_of(const Uuid& server, TimePoint at) const;
    /// On a host, to other requests, without what they hold by now.
    Resources promised_on(const std::string& host, const std::string& besides) const;
    /// The same at `at`, as far as the active reaper must know of it.
    Resources surely_promised_on(const std::string& host, const std::string& besides,
                                 TimePoint at) const;

    /// On a host: what is kept of the request's victims, or of room that was free for it.
    Resources kept_for(const std::string& request, const cloudsim::Host& host,
                       const HostState& state) const;

    // judge_reservations.cpp
    /// On a host, what reservations lack that are for others than the request, whichever server has
    /// it.
    Resources lacked_by_others(const std::string& host, const std::string& request,
                               const HostState& state) const;
    /// ... as far as no request may be given it, and the reaper must know.
    Resources surely_owed_to_others(const std::string& host, const std::string& request,
                                    TimePoint at) const;
    /// Is any reservation for it?
    bool has_reserved(const std::string& request) const;

    const std::vector<std::string>& violations() const { return violations_; }

    // The calls of the reaper.
    void on_sent(Exchange& call) override;
    void on_arrival(Exchange& call) override;
    void on_executed(Exchange& call) override;
    void on_answer(const Exchange& call) override;
    void on_replaced(const Exchange& call, int status) override;
    // The cloud.
    void on_server(const cloudsim::ServerEvent& event) override;
    void on_effect(const cloudsim::Effect& effect) override;

private:
    /// A server as an answer showed it.
    struct RecheckResult {
        TimePoint executed_at{};
        TimePoint answered_at{};
        bool fit = true;
        bool ran = false;
        bool shelvable = false;
        std::string why;
        std::string project;
        std::string host;
        TimePoint started{};  ///< in whole seconds
        bool untrue = false;
    };
    struct Tags {
        TimePoint executed_at{};
        TimePoint answered_at{};
        std::set<std::string> revocable;
        bool untrue = false;
    };
    /// What Placement told of a server.
    struct HeldLook {
        TimePoint answered_at{};
        bool holds_class = false;
        bool untrue = false;
    };
    /// What the reaper had seen when it sent a deletion.
    struct Basis {
        std::size_t machine = 0;  ///< whose reaper sent it; a call may arrive after a takeover
        Uuid server;
        bool forced = false;
        bool shelved = false;  ///< not deleted
        std::optional<RecheckResult> look;
        std::optional<Tags> tags;
        std::optional<HeldLook> held;
        std::optional<TimePoint> requester_seen;
        bool counts = false;    ///< it will delete something that was not going yet
        Reloaded configured{};  ///< what was in force
    };
    struct Named {
        std::string message;
        std::string request;
    };
    /// By a process that another has taken over from: what it sees is its own.
    bool is_late(const Exchange& call) const { return call.process < processes_; }
    static Named names_in(const std::string& body);
    /// What an executed reading showed, until its answer arrives.
    struct Reading {
        std::optional<std::pair<Uuid, RecheckResult>> look;
        std::optional<std::pair<Uuid, HeldLook>> held;
        std::optional<Tags> tags;
        std::string room_of;     ///< host
        std::string servers_of;  ///< host
    };
    struct PlanRecord {
        std::size_t machine = 0;
        TimePoint process_began{};
        std::string request;
        std::size_t index = 0;  ///< in the journal
        TimePoint at{};
        std::map<std::string, TimePoint> read_at;    ///< hosts, when their room was last read
        std::map<std::string, TimePoint> listed_at;  ///< hosts, when their servers were
        std::optional<Plan> plan;
        std::set<std::string> victims_left;  ///< evicting
        std::optional<TimePoint> replaced_at;
        bool judged = false;         ///< its first deletion was seen
        bool holds_perhaps = false;  ///< no server deleted for it is known to be gone
    };
    /// While a plan's victim counts as evicting, and its slots as promised.
    struct Span {
        TimePoint from{};
        std::optional<TimePoint> until;
        bool covers(TimePoint at) const { return from <= at && (!until || at <= *until); }
    };
    struct Eviction {
        std::size_t machine = 0;
        std::string request, server, host;
        Span span;
    };
    struct Promise {
        std::size_t machine = 0;
        std::string request, host, project;
        Resources slot;
        int slots = 0;
        std::set<Uuid> requesters;
        Span span;
        bool perhaps = false;
    };

    /// A server that the reaper's deletion ended.
    struct Death {
        std::size_t machine = 0;
        TimePoint sent{};
        std::string request, project;
    };

    void enter(PlanRecord& record);
    void end_evictions(const std::string& server, const std::string& request);
    void end_promises(const std::string& request);
    void on_finish(const std::string& request);
    void sync_outcomes();

    static bool shelves(const cloudsim::Request& request);
    std::optional<Uuid> deleted_server(const cloudsim::Request& request, bool& forced) const;
    void judge(const Exchange& call, const Basis& basis);
    void judge_right(const Exchange& call, const Basis& basis, const cloudsim::Server& server);
    void judge_need(const Exchange& call, const Basis& basis, const cloudsim::Server& server);
    void judge_requester(const Exchange& call, const Basis& basis, const Demand& demand,
                         const PlanRecord& plan);
    void judge_stop(const PlanRecord& plan, const std::string& server);
    void judge_awaited(const Exchange& call, const Basis& basis, const PlanRecord& plan);
    void judge_newest(const Basis& basis, const Demand& demand, const PlanRecord& plan);
    // judge_safeguards.cpp
    bool tagged_since(const std::string& project, TimePoint since) const;
    void judge_age(const Exchange& call, const Basis& basis);
    void judge_held(const Basis& basis);
    void judge_policy(const Basis& basis);
    // judge_notice.cpp
    bool gives_notice(const cloudsim::Request& request) const;
    static std::optional<TimePoint> journaled_end(const test::FakeJournal& journal,
                                                  const Uuid& server, Step with);
    void judge_departure(const Basis& basis, const cloudsim::Server& server);
    void judge_notice(const Basis& basis, const cloudsim::Server& server);
    void judge_notices_left();
    // judge_shelved.cpp
    std::vector<const cloudsim::Server*> shelved_by_reapers() const;
    void judge_shelved_left();
    // judge_breakers.cpp
    /// Something that is left alone after so many culls that went unused, for longer each time.
    struct Trip {
        int row = 0;
        int times = 0;
        std::optional<TimePoint> since;
        TimePoint until{};
        TimePoint unsure_until{};  ///< perhaps open until then: its first count is unknown
        std::string why;
        std::optional<std::string> tried;  ///< the request whose cull is tried since then
        std::set<std::string> projects;    ///< of the cloud's: whose culls went unused
        bool by_deletions = false;         ///< of the cloud's: why it is open
        bool is_open(TimePoint now) const { return since && now < until; }
        bool is_half_open(TimePoint now) const { return since && now >= until; }
        void open(TimePoint now, const RetrySettings& settings, std::string reason);
    };
    void judge_breaker(const Basis& basis);
    void judge_trip(Trip& trip, const std::string& rule, const PlanRecord& plan, TimePoint begun);
    TimePoint begun_at(const std::string& request) const;
    void end_trials(const std::string& request);
    void note_end(Trip& trip, const std::string& request, const std::string& kind, int slots,
                  int enough, const RetrySettings& settings, const std::string& whose);
    void note_end_for_cloud(const reaper::Request& asked, const std::string& kind, int slots);
    static std::string shape_of(const reaper::Request& request);
    void judge_limits(const Exchange& call, const Basis& basis);
    void note_authorization(const Exchange& call);
    void count_failure(const std::string& step, const std::string& server);
    void on_freed_room(const std::string& kind, const std::string& request);
    bool was_taken(const std::string& request) const;
    std::optional<TimePoint> requesters_seen(const std::string& victim);
    PlanRecord* plan_for(const std::string& server, std::size_t machine);

    /// Slots that the plan's hosts, and those of earlier plans of the request, have at `at`.
    int slots_at(const PlanRecord& plan, const Demand& demand, TimePoint at,
                 const std::optional<std::string>& without) const;
    bool cools_down(const PlanRecord& plan, const HostPlan& host) const;
    static std::string left_behind_by(const PlanRecord& plan, const std::string& consumer);
    int slots_on(const PlanRecord& plan, const Demand& demand, const std::string& host,
                 TimePoint at, const std::optional<std::string>& without) const;
    Resources promised_to_others(const PlanRecord& plan, const std::string& host, TimePoint at,
                                 bool surely) const;
    bool knows_of(const PlanRecord& plan, const Eviction& eviction) const;
    bool deleted_by_a_reaper(const cloudsim::Server& server) const;
    bool was_there(const Holder& holder, const Promise& promise) const;
    bool has_own(const Holder& holder, const Promise& promise) const;
    bool may_be_renewed(const Promise& promise, const PlanRecord& plan) const;
    bool lost_a_victim(const Promise& promise) const;
    bool surely_held(const Promise& promise, TimePoint at) const;
    bool takes(const Holder& holder, const Promise& promise) const;
    std::set<std::string> going_on(const PlanRecord& plan, const std::string& host,
                                   const HostState& state, bool known_only) const;
    void explain(const PlanRecord& plan, const Demand& demand, const std::string& id);
    void judge_places(const PlanRecord& plan, const Demand& demand);
    static std::size_t limit_after(const Demand& demand, const std::string& host,
                                   const HostState& state, const std::set<std::string>& going,
                                   bool least);
    void judge_together(const PlanRecord& plan, const Demand& demand, TimePoint from);
    static bool is_victim(const PlanRecord& plan, const Uuid& server);
    void judge_hold(const Exchange& call);
    void judge_holds_left();
    bool left_held(const std::string& provider) const;
    static bool sets_reserved(const cloudsim::Request& request);
    // judge_keeps.cpp
    static bool sets_holdings(const cloudsim::Request& request);
    bool is_requester(const Uuid& consumer) const;
    bool is_requester_in(const cloudsim::Request& request) const;
    Resources held_by(const Uuid& consumer) const;
    const cloudsim::Provider* host_held_by(const Uuid& consumer) const;
    std::map<std::string, std::ptrdiff_t> planned_for(const std::string& request) const;
    bool awaits_claims_of(const Resources& rest, const std::vector<cloudsim::Uuid>& claiming) const;
    bool is_room_of_a_plan(const Uuid& stand_in, const Resources& held) const;
    void note_holdings(const Exchange& call);
    void judge_holdings(const Exchange& call);
    bool keeps_class_of_a_server(const cloudsim::Consumer& escrow_consumer) const;
    std::vector<std::string> escrow() const;
    void judge_keeps_left();
    // judge_sold_room.cpp
    std::string tree_of(const Uuid& provider) const;
    static bool sets_inventories(const cloudsim::Request& request);
    static bool makes_provider(const cloudsim::Request& request);
    void note_sold_room(const Exchange& call);
    void judge_sold_room(const Exchange& call);
    void judge_rise(const Exchange& call, const std::string& host, Amount after);
    void judge_flaps(const Exchange& call, const std::string& host);
    void on_sold_room_answer(const Exchange& call);
    void judge_shed(const Basis& basis, const Correction& correction, const PlanRecord& plan,
                    double over);
    void judge_correction(const Exchange& call, const Basis& basis, const Correction& correction,
                          PlanRecord& plan);
    std::vector<std::string> wrong_sold_room() const;
    // judge_reservations.cpp
    static std::set<Uuid> reservations_in(const cloudsim::Request& request);
    void judge_reservation_write(const Exchange& call);
    void judge_reserved_release(const Role& role, const std::string& host, const Resources& was,
                                const Resources& is);
    Resources waits_for_reserved(const Reserved& reserved, bool borrowers) const;
    void judge_tenants(const PlanRecord& plan, const Demand& demand,
                       const cloudsim::Server& victim);
    void note_lender_races(const Reserved& own, const Demand& demand, const HostState& state,
                           const cloudsim::Server& victim);
    std::vector<std::string> wrong_reservations() const;
    void judge_reservations_left();
    std::vector<TimePoint> change_times(const PlanRecord& plan, TimePoint until) const;

    const SchedulePlan& plan_;
    const Timeline& timeline_;
    cloudsim::Site& site_;
    Truth& truth_;
    const Journals journals_;
    std::size_t machine_ = 0;  ///< the active reaper's
    Reloaded configured_;
    Reservations reservations_;
    std::function<void()> accepted_deletion_;
    const Switch& pause_;
    Trace& trace_;
    Tally& tally_;
    std::vector<std::string> violations_;

    std::map<Uuid, RecheckResult> looks_;
    std::map<Uuid, HeldLook> held_looks_;
    std::optional<Tags> tags_;
    std::deque<Tags> earlier_tags_;            ///< those before, the last few
    std::optional<TimePoint> untrue_tags_at_;  ///< the last reading of tags that was a lie
    std::map<std::string, TimePoint> room_read_;
    std::map<std::string, TimePoint> listed_;
    std::vector<PlanRecord> plans_;
    std::vector<Eviction> evictions_;
    std::vector<Promise> promises_;
    std::array<std::map<std::string, TimePoint>, 2> finished_;  ///< requests, by machine
    const Broker* broker_ = nullptr;
    const Gateway* gateway_ = nullptr;
    const SoldRoom* sold_ = nullptr;
    Amount sold_before_ = 0;  ///< of a call that the cloud works on
    /// Room of a host that rises and falls, as one process knows it on one connection.
    struct SoldFlaps {
        bool rose = false;  ///< since the last fall
        std::vector<TimePoint> at;
        TimePoint left_alone_until{};
    };
    struct SoldWrite {
        std::string host;
        Amount before = 0, after = 0;
        std::uint64_t epoch = 0;
    };
    std::map<std::string, SoldFlaps> sold_flaps_;
    std::uint64_t sold_epoch_ = 0;
    std::map<std::uint64_t, SoldWrite> sold_writes_;  ///< without an answer, by call
    std::optional<Uuid> unauthorized_;  ///< whose deletion was the last, and lacked a good token
    std::map<Uuid, Resources> holdings_before_;  ///< of a call that the cloud works on
    /// The same of reservations, by host.
    std::map<Uuid, std::map<std::string, Resources>> reservations_before_;
    /// What reservations released, by host.
    std::map<std::string, std::vector<std::pair<TimePoint, Resources>>> released_;
    bool was_down_ = false;
    TimePoint started_at_{};                      ///< the present process
    std::uint64_t processes_ = 0;                 ///< ... and the number of it
    std::map<std::string, TimePoint> delivered_;  ///< requests, to the present process
    std::map<std::string, Death> deaths_;         ///< by server
    /// What the safeguards of a machine's reaper have seen.
    struct Circuits {
        int failed = 0;              ///< deletions in a row
        int refused = 0;             ///< of these
        std::set<ProjectId> hung{};  ///< whose servers the others of these are
        Trip cloud;
        std::map<std::string, Trip> projects;
        std::map<std::string, Trip> shapes;
        TimePoint deaf_until{};  ///< what ends by then, an operator's word may have made nothing of
    };
    Circuits& circuits() { return circuits_[machine_]; }
    std::array<Circuits, 2> circuits_;
    std::set<std::string> failures_told_;    ///< of deletions that were not sent again since
    std::map<std::string, TimePoint> died_;  ///< since when the cloud has their deletion
    /// Requests for which a server was deleted, since when; by machine.
    std::array<std::map<std::string, TimePoint>, 2> culled_;
    std::set<std::string> ending_;  ///< requests whose outcome is being written
    std::set<Uuid>
        accepted_;  ///< whose deletion the cloud accepted from the reaper, and was judged
};

}  // namespace reaper::faults

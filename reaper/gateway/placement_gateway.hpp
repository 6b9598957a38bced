// What the gateway decides: nova-scheduler's searches for a host (`GET /allocation_candidates`),
// and its claims (`PUT /allocations/SERVER`).
//
// Each is asked of Placement first. Room that is promised to other requests is no candidate of
// this one. If nothing is left, or less than the request has servers, and it is certain who asks,
// the request is served as those of the other triggers are, while nova-scheduler waits; then
// Placement is asked again. In every other case its answer passes as it came.
//
// The request has the id that its failure message would have, and so one cull. It is leased as long
// as nova-scheduler waits and this reaper serves the queue.
//
// Several requests may be waiting of which it can't be told which one asks, as when revocable
// servers of the same flavor are asked for all the time; or Nova's list takes too long. If a
// regular one could be helped, the search is offered the hosts where room could be freed, and no
// server is deleted yet: nova-scheduler's filters look at them, and its claim names the server.
// Placement is asked for what it claims, and refuses, as nothing is free: a regular one is served
// then, while the claim waits, and it is claimed again. Its room is on the host that it claims, if
// that can give all of it.
//
// A search whose time is over while its victims are going is told of their hosts, and its claim
// waits for the room. A request is that of its servers, not of the id that its calls carry
// (RequestIds).
//
// Where Placement has few places, others may claim them first. A claim for which there is no room
// any more is served in the same way, if it is that of a regular server.
//
// Flavors and images may say by traits which kind of room they admit (res_type_query.hpp), also to
// a gateway that can't help now. These are taken out, and Placement is asked for each kind in its
// turn: for revocable room, of a revocable class in place of what that stands for. Whoever asks may
// say it elsewhere too; that is known when it is known who asks, and so goes first.
//
// `GET /reaper-gateway`, a path that Placement does not have, tells how it is: 200, or 503 while
// everything passes through, and haproxy sends everything to Placement itself. Nobody there knows
// of kept room. So it says 200 for a moment longer while an answer that told of such room is not
// claimed yet; and who is told while it says 503 is told of room that was let go.
//
// A claim that would take room which is promised to others is refused as Placement refuses one for
// which there is no room; so is one that leaves the room that was freed for it elsewhere.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/settings.hpp"
#include "reaper/cloud_reader/cache_refresher.hpp"
#include "reaper/gateway/call_words.hpp"
#include "reaper/gateway/candidates.hpp"
#include "reaper/gateway/gateway_call.hpp"
#include "reaper/gateway/promised_room.hpp"
#include "reaper/gateway/requester_resolver.hpp"
#include "reaper/gateway/turn.hpp"
#include "reaper/gateway/waiting_room.hpp"
#include "reaper/kept_room/kept_rooms.hpp"
#include "reaper/model/plan.hpp"
#include "reaper/ports/message_source.hpp"
#include "reaper/ports/proxy_handler.hpp"
#include "reaper/ports/trigger.hpp"
#include "reaper/rooms/room_keeper.hpp"
#include "reaper/runtime/async.hpp"

namespace reaper {

/// For people and `status`.
struct GatewayCounts {
    std::uint64_t searches = 0;
    Duration last_search{};       ///< when, on the steady clock
    int held = 0;                 ///< calls that wait for room now
    int looking = 0;              ///< calls that are looked into now, those that wait among them
    std::uint64_t served = 0;     ///< got a host after a cull, or room that was there after all
    std::uint64_t in_vain = 0;    ///< were served, and got Placement's own answer
    std::uint64_t offered = 0;    ///< are decided when they are claimed
    std::uint64_t revocable = 0;  ///< got revocable room, as they admit it
    std::uint64_t passed = 0;     ///< found nothing, and nothing was done: see the log
};

class PlacementGateway final : public ProxyHandler {
public:
    /// All of it must outlive the gateway and the calls that it handles; `settings` may change.
    struct Dependencies {
        CloudPorts cloud;  ///< with Placement as it is
        const CacheRefresher& refresher;
        RoomKeeper& rooms;
        KeptRooms& kept_rooms;
        const MessageSource& messages;  ///< who serves the queue
        const config::Gateway& settings;
        std::function<SchedulerRules()> scheduler;  ///< how nova-scheduler is set up, by now
        /// Why nobody can be helped now; none if all is well.
        std::function<std::optional<std::string>()> unable;
        /// Why a requester is revocable, by what is known now; none if it is regular.
        std::function<std::optional<std::string>(const Request&)> why_revocable;
        /// Is each server of the project revocable, whatever else it is?
        std::function<bool(const ProjectId&)> is_revocable;
        /// Room may be lent to a revocable requester.
        std::function<bool()> lends;
        /// What would be decided for a request, by what is known now: nothing is done.
        std::function<Decision(const Request&)> consider;
        /// Classes whose inventories are room that is offered as revocable, by now.
        std::function<std::set<ResourceClass>()> revocable_classes;
        /// A server that says which kind of room it admits got some.
        std::function<void(const ServerId&)> placed;
        /// Runs what goes on by itself; this lives until it ends.
        std::function<void(Task<void>)> spawn;
        RequestSink& sink;
        const bool& stopping;
    };
    PlacementGateway(const boost::asio::any_io_executor& executor, Dependencies dependencies);

    bool wants(std::string_view method, std::string_view target) const override;
    bool owns(std::string_view target) const override;
    std::string line() const override;
    Task<ProxyAnswer> handle(HttpRequest request, ProxyCall& call) override;

    GatewayCounts counts() const {
        GatewayCounts now = counts_;
        now.held = waiting_room_.held();
        return now;
    }
    /// Of late, Placement had hosts for this request: nova-scheduler was told of them, or they were
    /// kept for others. That Nova refuses it says nothing against their room.
    bool had_hosts(const RequestId& id) const { return had_hosts_.contains(id); }
    /// Why everything passes through; none if not.
    std::optional<std::string> passes_through() const;
    /// A call that is helped has no answer yet, or what one was told of is not claimed yet.
    bool is_needed() const { return helping_ > 0 || awaits_claims(); }

private:
    /// An answer of Placement's, and what it says; the candidates are none if it can't be told.
    struct Asked {
        ProxyAnswer answer;
        std::optional<Candidates> candidates{};
        bool had_hosts = false;  ///< before room that is promised to others was taken off
        bool enough = false;     ///< it is known that all servers of the request find room
        bool withheld = false;   ///< some of what it said is promised to others
        std::size_t told = 0;    ///< candidates that Placement named
    };
    /// Nova-scheduler waits, or is about to claim what it was told of.
    struct Waiting {
        int calls = 0;
        Duration claims_until{};  ///< on the steady clock: its claim comes by then
        std::set<ServerId> unclaimed{};
        bool left = false;      ///< the client of its last call is gone
        bool given_up = false;  ///< no outcome will come any more
        std::optional<Outcome> outcome{};
    };
    using WaitingPointer = std::shared_ptr<Waiting>;
    class CallLease;
    class Teller;
    /// So many servers are rarely asked for at once; who asks is not looked into for more places.
    static constexpr Amount many_places = 64;
    /// Others may claim so many before who asks does.
    static constexpr Amount few_places = 16;
    /// Between two looks whether something is there.
    static constexpr Duration poll_interval{20};
    /// How long Nova may take to tell who asks: as long as the call has, or not so long where
    /// nova-scheduler has hosts without that.
    static constexpr Duration whole_call = Duration::max();
    static constexpr Duration short_look{3'000};
    /// Of an answer that told of kept room, or of room on its way, the claim comes within.
    static constexpr Duration claimed_within{5'000};
    /// Counts its life.
    class Counted {
    public:
        explicit Counted(int& count) : count_(count) { ++count_; }
        ~Counted() { --count_; }
        Counted(const Counted&) = delete;
        Counted& operator=(const Counted&) = delete;

    private:
        int& count_;
    };
    /// Calls that may be looked into at a time: nova-scheduler has 64 places by default, and the
    /// rest is for those that nothing is asked for. A look is short where Nova answers.
    static constexpr int most_looking = 48;

    /// Hosts that a search was told of, whoever makes it, while room is scarce.
    struct Offer {
        std::vector<CandidatesQuery> queries;  ///< the newest last: two of a pair
        std::set<HostId> hosts;
        Duration at{};                     ///< on the steady clock
        bool nothing_free = false;         ///< it is known that Placement has no room there
        std::set<ServerId> looked_into{};  ///< claimed without room; served if they are regular
        std::set<ServerId> claimed{};      ///< these have their room
        /// Hosts that nova-scheduler was refused for a server, and will not claim for it again.
        std::map<ServerId, std::set<HostId>> refused{};
        /// The one that a claim of so much follows.
        const CandidatesQuery& query_of(const Resources& amounts) const;
    };

    /// What the search for dedicated CPUs was told: Nova asks for the same as VCPU then, and takes
    /// either.
    struct Dedicated {
        Duration at{};  ///< on the steady clock
        Amount places = 0;
        std::set<HostId> hosts;
        bool enough = false;
    };

    OwnAnswer state() const;
    Task<ProxyAnswer> search(HttpRequest request, GatewayCall& call);
    Task<Asked> ask(HttpRequest request, GatewayCall& call, RequestId id,
                    std::optional<ResType> only = std::nullopt, bool whole = false);
    Task<Asked> ask_once(HttpRequest request, GatewayCall& call, RequestId id,
                         std::optional<ResType> only, bool whole);
    Task<void> add_hidden_hosts(HttpRequest request, GatewayCall& call, RequestId id,
                                std::optional<ResType> only, Asked& asked);
    bool some_host_is_declared() const;
    bool names_many_hosts(std::string_view body, const RequestId& id) const;
    std::optional<std::string> why_pass(const RequestId& id, const Result<CandidatesQuery>& query);
    std::optional<std::string> why_no_place(const WaitingCall& waiting) const;
    WaitingCall waiting_call(const Request& wanted) const;
    void pass_over_paused_hosts(Request& wanted) const;
    bool too_many_looks() const;
    Task<Asked> help(HttpRequest request, GatewayCall& call, CandidatesQuery query, Asked first);
    Task<Asked> serve(HttpRequest request, GatewayCall& call, CandidatesQuery query, Request wanted,
                      Asked first);
    Task<Asked> ask_for_its_room(HttpRequest request, GatewayCall& call, CandidatesQuery query,
                                 RequestId id);
    bool tell_of_kept_room(const RequestId& id, const CandidatesQuery& query, Asked& asked) const;
    bool tell_of_hosts(const std::set<HostId>& hosts, const CandidatesQuery& query,
                       Asked& asked) const;
    bool tell_of_room_on_its_way(const RequestId& id, const CandidatesQuery& query, Asked& asked);
    void keep_to_its_room(const Request& wanted, Asked& asked) const;
    Amount places_of(const Request& wanted, const Candidates& candidates) const;
    bool is_enough(const Candidates& candidates, const Request& wanted) const;
    Amount places_for(const Request& wanted, const Candidates& candidates) const;
    Amount usable_places(const Candidates& candidates) const;
    // Pairs of searches.
    void note_dedicated(const RequestId& id, const CandidatesQuery& query, const Asked& asked);
    bool is_second_of_pair(const RequestId& id, const CandidatesQuery& query) const;
    Amount places_of_pair(const RequestId& id, const Candidates& second) const;
    bool has_room_of_the_other_kind(const RequestId& id, const CandidatesQuery& query) const;
    std::optional<std::string> why_second_passes(const Request& wanted,
                                                 const CandidatesQuery& query) const;
    Task<bool> found_by_fallback(HttpRequest request, GatewayCall& call, Request wanted,
                                 std::optional<ResType> only, const Candidates& first);
    Task<std::optional<Outcome>> wait_for(Request wanted, GatewayCall& call, bool had_hosts);
    template <class T>
    using Lookup = std::shared_ptr<std::optional<Result<T>>>;
    template <class T>
    Lookup<T> begin(ResultTask<T> lookup);
    template <class T>
    ResultTask<T> in_time(GatewayCall& call, Lookup<T> lookup, Duration longest);
    void note_unanswered(const GatewayCall& call, Duration waited);
    void note_late(const std::optional<std::string>& pause) const;
    std::map<HostId, std::string> named_hosts(const RequestId& id) const;
    bool is_on_its_way(const RequestId& id, const Allocations& asked) const;
    Task<bool> wait_for_its_room(RequestId id, Allocations asked, GatewayCall& call);
    void note_nova(const std::optional<Error>& trouble);
    bool awaits_claims() const;
    void note_told_of_kept_room(const RequestId& id);
    bool is_full() const { return waiting_room_.held() >= dependencies_.settings.max_held; }
    std::optional<std::string> narrow(Request& request, const CandidatesQuery& query) const;
    HostAggregates named_aggregates(const CandidatesQuery& query) const;
    void pass(const RequestId& id, const std::string& why);
    /// No candidates, whatever Placement has: Nova finds no valid host then.
    static Asked refuse(const RequestId& id, const std::string& why);
    // Kinds of room.
    Task<ProxyAnswer> search_by_type(HttpRequest request, GatewayCall& call, PlacementQuery query);
    using Said = std::variant<std::monostate, Request, Refused>;
    Task<Said> who_says(HttpRequest request, GatewayCall& call, CandidatesQuery query);
    Task<Asked> in_phases(HttpRequest request, GatewayCall& call, Result<CandidatesQuery> query,
                          Phases phases, std::optional<Request> wanted, std::optional<Asked> plain);
    Task<Asked> ask_for_regular(HttpRequest request, GatewayCall& call,
                                Result<CandidatesQuery> query, std::optional<Request> wanted,
                                std::optional<Asked> plain);
    Task<Asked> ask_for_revocable(HttpRequest request, GatewayCall& call,
                                  std::optional<Request> wanted);
    Task<bool> revocable_by_fallback(HttpRequest request, GatewayCall& call, Request wanted);
    void note_revocable(const RequestId& id, const Asked& asked);
    void note_wish(const RequestId& id);
    // Claims.
    bool offer(const RequestId& id, const CandidatesQuery& query, std::vector<Request> may_be,
               Asked& asked);
    std::vector<const Host*> rooms_for_any(const RequestId& id, const CandidatesQuery& query,
                                           std::vector<Request> may_be,
                                           const std::set<HostId>& besides) const;
    std::vector<const Host*> rooms_for(Request wanted, const std::set<HostId>& besides) const;
    Task<ProxyAnswer> claim(HttpRequest request, GatewayCall& call);
    bool may_be_regular(std::string_view claim) const;
    RequestId claimed_for(const RequestId& call_id, const ServerId& server) const;
    Task<ProxyAnswer> try_claim(HttpRequest request, GatewayCall& call, RequestId id,
                                std::optional<Allocations> asked);
    bool is_elsewhere(const RequestId& id, const Allocations& asked) const;
    bool leaves_its_room(const RequestId& call_id, const RequestId& id, const ServerId& server,
                         const Allocations& asked) const;
    Task<std::optional<ProxyAnswer>> refused_token(HttpRequest claim, GatewayCall& call);
    void note_offer(const RequestId& id, Offer offer);
    Task<ProxyAnswer> send_claim(HttpRequest request, GatewayCall& call, RequestId id,
                                 std::optional<Allocations> asked);
    std::string names_of(const Allocations& asked) const;
    void note_success(const RequestId& call_id, const RequestId& id, const ServerId& server,
                      const Allocations& asked);
    void note_claim(const RequestId& id, const ServerId& server, const Allocations& asked,
                    int status);
    Task<bool> help_claim(RequestId id, ServerId server, Allocations asked, GatewayCall& call);
    Task<std::optional<Request>> who_claims(RequestId id, ServerId server, Allocations asked,
                                            GatewayCall& call);
    void prefer_claimed(Request& wanted, const Allocations& asked) const;
    Task<std::unique_ptr<Turn<ProviderId>>> turn_for(std::set<ProviderId> providers);
    void note_hosts(const RequestId& id);

    Dependencies dependencies_;
    RequesterResolver requester_resolver_;
    PromisedRoom promised_;
    std::map<RequestId, Offer> offers_;
    AsyncSemaphore long_answers_;    ///< that are read whole at a time
    std::set<ProviderId> claiming_;  ///< one claim of each at a time: the next sees it taken
    GatewayCounts counts_;
    std::uint64_t calls_ = 0;
    std::map<RequestId, Duration> had_hosts_;  ///< since when, on the steady clock
    std::map<RequestId, Duration> wishes_;  ///< the same, of who says what kind of room it admits
    std::map<RequestId, Dedicated> dedicated_;
    WaitingRoom waiting_room_;
    RequestIds request_ids_;
    std::map<RequestId, std::weak_ptr<Waiting>> waits_;
    int helping_ = 0;  ///< calls for which something is done, and claims of kept room
    std::map<RequestId, Duration> told_kept_;  ///< since when, on the steady clock
    Duration nova_silent_until_{};             ///< on the steady clock
    std::string nova_trouble_;
};

/// A look into the cloud that goes on by itself; empty until it ends.
template <class T>
PlacementGateway::Lookup<T> PlacementGateway::begin(ResultTask<T> lookup) {
    auto said = std::make_shared<std::optional<Result<T>>>();
    dependencies_.spawn(keep_shared(std::move(lookup), said));
    return said;
}

/// What the look says, if it ends while the call waits and within `longest`; else `timeout`.
template <class T>
ResultTask<T> PlacementGateway::in_time(GatewayCall& call, Lookup<T> lookup, Duration longest) {
    Clock& clock = dependencies_.cloud.clock;
    const Duration began = clock.steady();
    const Duration until =
        longest < call.until() - began ? began + longest : std::max(call.until(), began);
    Duration pause{1};
    while (!*lookup && !call.client_gone() && !dependencies_.stopping && clock.steady() < until) {
        co_await clock.sleep(pause);
        pause = std::min(2 * pause, poll_interval);
    }
    if (*lookup) {
        std::optional<Error> trouble;
        if (!**lookup) trouble = (*lookup)->error();
        note_nova(trouble);
        co_return std::move(**lookup);
    }
    note_unanswered(call, clock.steady() - began);
    co_return Error{Errc::timeout, "Nova did not tell in time who asks"};
}

}  // namespace reaper

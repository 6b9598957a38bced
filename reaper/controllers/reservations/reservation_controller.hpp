// Keeps reservations: what configuration and operators ask for, and what Placement holds for it.
//
// All that is known of them is in Placement (reservation_register.hpp). It is read when this reaper
// begins to serve, and once an hour. Each host with reservations is looked at when something
// happened to it, and now and then: what its role's servers use, what is free, what each of its
// reservations holds, and what it is to hold next. Where that differs, the host is read again and
// all of its reservations are changed in one transaction. One that lacks room waits until room is
// free; nobody is deleted for it here, and no room is taken that is promised to a request. What it
// lacks, and who borrows of it, is told to the ledger: the room is nobody's but its role's.
//
// Idle room is let go of for a request of the role, and lent to a revocable one, before anybody is
// deleted, or refused (release_for, lend_to).
//
// An order (reserve, unreserve) is answered when it is valid on a fresh reading of its hosts, and
// applied in one transaction over all of them; the journal has it before. Asked again under the
// same key it is the same one: the journal knows it, and another reaper by its mark, which is in
// the records that it changed. One that waits for tenants to go is gone on with after a restart.
//
// Records that somebody else changed are taken as they are: another reaper ordered it. Room that
// somebody took from a reservation, or all of it, is reserved again, and told.
//
// One thread; what it is made with must outlive it.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "config/settings.hpp"
#include "reaper/cloud_reader/cache_refresher.hpp"
#include "reaper/controllers/reservations/project_roles.hpp"
#include "reaper/controllers/reservations/reservation_register.hpp"
#include "reaper/model/plan.hpp"
#include "reaper/model/records.hpp"
#include "reaper/model/request.hpp"
#include "reaper/ports/cloud_ports.hpp"
#include "reaper/ports/journal.hpp"
#include "reaper/reservations/host_loans.hpp"
#include "reaper/reservations/idle_room.hpp"
#include "reaper/reservations/reservation_allotment.hpp"
#include "reaper/reservations/reservation_lending.hpp"
#include "reaper/reservations/reservation_order.hpp"
#include "reaper/reservations/reservation_records.hpp"
#include "reaper/rooms/room_keeper.hpp"
#include "reaper/runtime/async.hpp"
#include "reaper/runtime/backoff.hpp"

namespace reaper {

/// What became of orders that were given together.
struct OrderState {
    enum class Kind {
        applied,
        waiting,  ///< for tenants to go
        failed,   ///< it waited, and does not hold any more
        valid,    ///< it would be; nothing was done
    };
    std::int64_t number = 0;  ///< the journal's
    std::string key;
    std::string principal;
    Kind kind{};
    std::vector<std::string> told;  ///< each in one line
    std::string reason;             ///< why it failed, or what it waits for; or empty
    TimePoint at{};
};

std::string_view to_string(OrderState::Kind kind);

/// For people and programs. Reservations that are alike but for who made them are one.
struct ReservationView {
    ReservationId id;         ///< of several, the first one's
    Reservation reservation;  ///< all of it
    ReservationBalance balance;
    std::string host_name;                         ///< empty: there is no such host
    std::map<std::string, Resources> reservers{};  ///< how much of it is whose
    std::optional<ReservationName> refines{};      ///< the one that it was taken from
    std::vector<ServerId> tenants{};
    Duration calm_for{};    ///< so long it is not lent: its role came a while ago
    std::string trouble{};  ///< why it is not as it should be; or empty
};

class ReservationController {
public:
    struct Dependencies {
        CloudPorts cloud;  ///< with Placement as it is
        CacheRefresher& refresher;
        RoomKeeper& rooms;
        Journal& journal;
        const config::Reservations& settings;  ///< of now: a reload counts at the next step
        const Duration& promise;  ///< room is kept for a request so long (cull.promise), likewise
        /// Not 0: this reaper acts, and no other; another number each time that it begins to.
        std::function<std::uint64_t()> serving;
        /// Tenants are to go; they may, some time.
        std::function<void(const EndedLoan&)> take_back;
        const bool& stopping;
        /// Nothing is written: what is there is known, and told to who decides.
        bool is_read_only = false;
    };
    ReservationController(const boost::asio::any_io_executor& executor, Dependencies dependencies);

    /// What is due. To be called every `step`. An error: it could not be read.
    ResultTask<void> check();
    static constexpr Duration step{1000};
    /// What is reserved is known when it returns, and told to the ledger: for who decides once, on
    /// a cloud that is read.
    ResultTask<void> read_now();

    /// All of them or none. `forbidden`, `not_found`, `conflict`, `bad_input`, or why it can't be
    /// told now (why_not_known). The principal may reserve and unreserve as the ACL says.
    /// `dry_run`: it is only said whether they would hold. Under a key that the principal gave
    /// before: what became of that order; `conflict` if it was another one.
    ResultTask<OrderState> give(std::string key, std::string principal,
                                std::vector<ReservationOrder> orders, bool dry_run = false);
    struct Search {
        /// What would be decided for a request if there were these hosts alone.
        std::function<Decision(const Request&, const std::vector<Host>&)> decide;
        /// For a request: hosts that it may go to, whatever is free there; by the cache as it is,
        /// and only as long. None: all hosts.
        std::function<std::function<bool(const HostId&)>(const Request&)> suitable{};
    };
    /// Room that is held for the request's role is let go of, as much as it lacks, where so many of
    /// its servers as possible fit without a deletion; else where all of them do with at most
    /// `most_victims`. No reservation takes any of that room, be it let go of or free, within
    /// `promise`, nor while it is promised to the request.
    /// Nothing: there is none, or it can't be: the log says why, and nobody waits for it.
    struct Release {
        std::set<ReservationId> by;     ///< they let go of it
        std::optional<Decision> would;  ///< where nothing is written: what would be decided then
    };
    /// `look`: what would be decided, by the cache as it is; nothing is read or written.
    enum class Giving { write, look };
    Task<Release> release_for(Request request, Search search, std::size_t most_victims,
                              Giving giving = Giving::write);
    /// The same for a request of a revocable server: room is lent that is idle, where least is left
    /// over.
    Task<Release> lend_to(Request request, Search search, Giving giving = Giving::write);
    /// The request was told that this room is free for it: the same holds for it.
    void keep_free_for(const Request& request, const std::vector<HostPlan>& plans);
    /// The hosts where reservations would let go of something for the request (of its role, or lent
    /// to it if it `borrows`), as they would be without that.
    std::vector<Host> as_if_given(const Request& request) const;
    /// When what is reserved is known, or can't be told: before a decision, as whoever begins to
    /// serve has to read it.
    Task<void> until_known();
    /// Nothing is written: what it finds is told as what would be decided.
    bool is_read_only() const noexcept { return dependencies_.is_read_only; }
    /// Might any reservation lend anything?
    bool lends() const;
    /// The role of a project; empty: of none, or it can't be told. Whoever only looks keeps nobody
    /// else from asking Keystone.
    Task<Role> role_of(ProjectId project, Giving giving = Giving::write);
    /// Before a decision: the ledger has what reservations lack and lend, as the cache has it now.
    void update_ledger();
    /// Service hosts with tenants of reservations that are open to the role.
    std::set<std::string> hosts_lent_by(const Role& role) const;
    /// Servers are to be deleted for a request of the role: tenants among them may not come back at
    /// once.
    void on_plan(const Role& role, const Plan& plan);
    /// How reservations are lent whose orders don't say it.
    LendingPolicy lending_by_default() const;
    /// Are there any on this host, be it gone?
    bool has_on(const HostId& host) const { return books_.contains(host); }
    /// The last ones, the newest first.
    const std::deque<OrderState>& orders() const noexcept { return orders_; }

    /// By host name, then role.
    std::vector<ReservationView> list() const;
    /// What is wrong with the register, for people; empty: nothing.
    const std::vector<std::string>& remarks() const noexcept { return remarks_; }
    /// Why this reaper can't tell what is reserved; none if it read it as the one that serves.
    std::optional<Error> why_not_known() const;

private:
    static constexpr std::size_t max_orders = 1000;
    static constexpr const char* gone_from_placement =
        ": somebody deleted it in Placement; it is reserved again";
    static constexpr std::size_t hosts_at_a_step = 256;
    static constexpr std::size_t readings_at_a_step = 16;
    static constexpr Duration between_readings = std::chrono::hours{1};
    /// Tenants that did not go are asked for again.
    static constexpr Duration ask_back_again = std::chrono::minutes{2};
    static constexpr Duration longest_wait = std::chrono::minutes{10};
    static constexpr Duration longest_waiting_pause{30'000};
    /// So long Nova does not have a host before what is held there is let go of.
    static constexpr Duration gone_for_good = std::chrono::minutes{1};
    static constexpr Duration longest_reading = std::chrono::minutes{1};
    static constexpr Duration call_deadline{10'000};
    static constexpr Duration first_pause{1'000};
    static constexpr Duration longest_pause{60'000};

    /// Room for somebody who is not there yet: no reservation takes it.
    struct Left {
        RequestId request;
        Resources amounts;
        Resources used_then;  ///< what servers of his role, or revocable ones, held before he came
        bool borrowed = false;       ///< by a revocable server
        Role role{};                 ///< else his
        Duration until{};            ///< steady
        std::set<ServerId> there{};  ///< revocable servers that were on the host before
    };
    /// Tenants that are to go.
    struct AskedBack {
        std::set<ServerId> tenants;
        Duration at{};  ///< steady
    };
    /// What Placement was told last of a reservation, where it is not known whether it was done.
    enum class Unsure { written, removed };
    /// All that is known of a host's reservations.
    struct Book {
        HostReservations reservations;
        ReservationRecords records;  ///< as Placement has them
        Duration looked_at{};        ///< steady
        Duration retry_at{};         ///< steady
        std::vector<Left> left;
        std::map<ReservationId, CalmTime> calm;
        std::map<ReservationId, AskedBack> asked_back;
        std::set<ReservationId> lent_since;  ///< since tenants went for its role last
        HostLoans loans;
        GrowingPause pause{first_pause, longest_pause};
        std::string trouble;
        std::string short_of;                ///< as of what is wanted
        std::string name;                    ///< of the host, as it was there last
        std::string unfit;                   ///< why the host serves nobody; told
        std::optional<Duration> gone_since;  ///< steady
        std::uint64_t gone_build = 0;        ///< the bulk reading that the cache was made of then
        std::map<ReservationId, Unsure> unsure;
        std::vector<std::string> drift;  ///< what somebody else changed, to be told
    };
    /// What becomes of a host's reservations, and what Placement is told for it.
    struct HostChange {
        HostReservations reservations;
        std::vector<ConsumerChange> changes;
    };
    using HostChanges = std::map<HostId, HostChange>;
    ResultTask<void> load();
    Task<void> configure_all();
    std::map<ReservationId, Reservation> configured_on(const Host& host) const;
    std::vector<HostId> due();
    Task<void> look_at(HostId host);
    ResultTask<bool> settle(HostId host);
    bool wants_reading(const HostId& host) const;
    ResultTask<void> read_again(HostId host);
    /// The roles of those who have servers there are known then.
    ResultTask<void> learn_roles_on(HostId host);
    /// Of one that is gone: what its reservations hold.
    HostUse use_now(const HostId& host) const;
    bool may_write() const;
    Resources left_on(const Left& left, const Host& host) const;
    Resources all_left_on(const Book& book, const Host& host) const;
    Left room_left_for(const RoomWish& wish, const HostPlan& plan, const Host& host,
                       const Book& book) const;
    Resources used_by_alike(const Left& left, const Host& host) const;
    /// For whom room is let go of.
    struct Wish : RoomWish {
        bool look = false;  ///< nothing is read or written
    };
    bool may_give(const Wish& wish, const Book& book, const ReservationId& id) const;
    GivenRoom given_on(const Wish& wish, const HostId& host) const;
    std::vector<IdleRoom> idle_rooms(const Wish& wish, const Search& search,
                                     const std::set<HostId>& among,
                                     const std::set<HostId>& unfit) const;
    FoundRoom find_room(const Wish& wish, const Search& search, const std::set<HostId>& among,
                        const std::set<HostId>& unfit) const;
    void follow_cache();
    ResultTask<Release> release_room(Wish wish, Search search);
    static Release as_if(const Request& request, const Search& search, const FoundRoom& found,
                         const std::vector<std::string>& told);
    Task<void> report_loans(HostId host);
    Task<void> report_debts(HostId host);
    Task<void> load_loans();
    void note_borrowers(const Host& host);
    void end_loans(const HostId& host);
    bool roles_known_on(const Host& host) const;
    Task<void> know_roles_of_promises();
    Task<void> know_calm();
    /// At most so much; none: all that is lent. With a time: of those alone that borrowed by then.
    void take_back(const HostId& host, const ReservationId& id,
                   const std::optional<Resources>& amounts,
                   const std::optional<TimePoint>& borrowed_by, const std::string& why);
    /// Given with `lent_too`: done when their tenants are gone.
    struct Waiting {
        OrderRecord record;
        std::vector<ReservationOrder> orders;
        Duration until{};        ///< steady
        Resources in_the_way{};  ///< as of the last try: where it is another, it is tried at once
        Duration retry_at{};     ///< steady
        GrowingPause pause{first_pause, longest_waiting_pause};
    };
    void take_in(const HostId& host, const ReservationId& id, Consumer read);
    Task<void> report_drift(HostId host);
    Task<void> report_health(HostId host);
    std::string name_of(const HostId& host) const;
    void note_whether_gone(const HostId& host);
    std::string why_gone(const HostId& host) const;
    void remember(const Book& book, const ReservationId& id, const Consumer& wanted);
    Task<void> journal_known();
    Task<void> find_lost();
    Task<void> know_orders();
    Task<void> settle_begun();
    Task<void> settle_all_begun();
    ResultTask<bool> was_done(const OrderRecord& record,
                              const std::vector<ReservationOrder>& orders);
    ResultTask<std::optional<OrderRecord>> known_order(const OrderRecord& given);
    ResultTask<void> settle_one(OrderRecord& record);
    ResultTask<void> begin_order(OrderRecord& record, const HostChanges& changes);
    static Error other_order(const std::string& key);
    void wait_for_tenants(OrderRecord record, std::vector<ReservationOrder> orders);
    Task<void> end_order(OrderRecord& record, OrderProgress progress, const std::string& reason);
    void show(const OrderRecord& record);
    OrderState state_of(const OrderRecord& record) const;
    ResultTask<OrderState> give_new(std::vector<ReservationOrder> orders, OrderRecord& record,
                                    bool dry_run);
    std::string mark_of(const OrderRecord& record);
    Task<void> tell_refused(const OrderRecord& record, const Error& why);
    Resources in_the_way(const Waiting& waiting) const;
    Task<void> try_waiting();
    ResultTask<void> apply(const std::vector<ReservationOrder>& orders, OrderRecord& record,
                           bool dry_run);
    void await_tenants(const std::vector<ReservationOrder>& orders, const std::string& principal);
    UnreserveOrder as_allowed(UnreserveOrder order, const std::string& principal) const;
    ResultTask<void> write(HostChanges hosts);
    /// What is let go of for a wish.
    struct Giveaway {
        HostChanges changes;
        std::map<HostId, Left> left;
        std::set<ReservationId> by;
        std::vector<std::string> told;
    };
    Result<Giveaway> giveaway_for(const Wish& wish, const std::vector<HostPlan>& plans,
                                  std::set<HostId>& unfit) const;
    Result<RecordChanges> wanted_now(const HostId& host, const HostReservations& reservations,
                                     const std::string& mark) const;
    void try_later(Book& book, const std::string& what);
    ResultTask<std::optional<HostChanges>> try_orders(const std::vector<ReservationOrder>& orders,
                                                      const OrderRecord& record, bool dry_run);
    std::optional<Error> why_not_allowed(const std::vector<ReservationOrder>& orders,
                                         const std::string& principal) const;
    std::string text_of(const ReservationOrder& order) const;
    Task<void> note(const std::string& kind, const std::string& reason);

    Dependencies dependencies_;
    ProjectRoles roles_;
    AsyncSemaphore ordering_;  ///< one order at a time; before `writing_`
    AsyncSemaphore writing_;   ///< one change of books at a time
    std::map<HostId, Book> books_;
    std::deque<OrderState> orders_;
    std::vector<Waiting> waiting_;
    std::vector<OrderRecord> begun_;      ///< whether they were done is not known yet
    std::uint64_t orders_known_for_ = 0;  ///< `serving` when the journal's were read
    std::uint64_t given_ = 0;             ///< orders, by this process
    Duration orders_again_at_{};          ///< steady
    Duration begun_again_at_{};           ///< steady
    std::vector<std::string> remarks_;
    bool no_register_ = false;       ///< as of the last reading
    std::uint64_t awaited_for_ = 0;  ///< `serving` when somebody waited for it first
    Duration awaited_since_{};       ///< steady
    std::uint64_t known_for_ = 0;    ///< `serving` when the register was read
    Duration known_at_{};
    Duration look_again_at_{};  ///< steady; where there is no register
    // Steady; after a failure.
    Duration release_again_at_{};
    Duration lend_again_at_{};
    Duration roles_again_at_{};
    Duration configured_at_{};
    std::size_t readings_left_ = 0;  ///< of this step
    ChangeLog<HostId>::Reader seen_;
    std::set<HostId> changed_;
    ChangeLog<HostId>::Reader told_seen_;
    std::set<HostId> to_tell_;  ///< the ledger may have it otherwise
    std::set<HostId> told_;     ///< the ledger has something of it
    ChangeLog<Ledger::Change>::Reader told_ledger_;
    std::uint64_t told_roles_ = 0;
    // To be journaled: dynamic ones as Placement has them, and those that are not there any more.
    std::vector<KnownReservation> known_there_;
    std::vector<ReservationId> known_gone_;
    std::set<ReservationId> written_;  ///< since the last reading of the register was begun
};

}  // namespace reaper

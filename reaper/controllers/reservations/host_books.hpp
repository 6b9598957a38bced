// The books of the hosts with reservations: what is reserved, owed and known of each. They are read
// from Placement's register; each change of them is one transaction there. Records that others
// changed are taken as they are; room that was taken from a reservation stays its own.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "config/settings.hpp"
#include "reaper/cloud/reader/cache_refresher.hpp"
#include "reaper/controllers/reservations/project_roles.hpp"
#include "reaper/model/plan.hpp"
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
#include "reaper/runtime/turn.hpp"

namespace reaper {

struct ReservationDependencies {
    CloudPorts cloud;  ///< with Placement as it is
    CacheRefresher& refresher;
    RoomKeeper& rooms;
    Journal& journal;
    const config::Reservations& settings;  ///< current: a reload counts at the next step
    const Duration& promise;  ///< how long room is kept for a request (cull.promise); current
    /// Not 0: this reaper acts, and no other; another number each time that it begins to.
    std::function<std::uint64_t()> serving;
    std::function<bool()> journal_is_ours;  ///< no other reaper may have it by now
    /// Tenants are to go; they may, some time.
    std::function<void(const EndedLoan&)> take_back;
    /// See Escrow::turn_for; empty for one that is read-only.
    std::function<Task<std::unique_ptr<Turn<ProviderId>>>(std::set<ProviderId>)> turn_for;
    const bool& stopping;
    /// Nothing is written: the state is known, and reported for decisions.
    bool is_read_only = false;
};

/// After a failure, requests are served without.
inline constexpr Duration pause_after_failure{10'000};

/// `look`: what would be decided, by the cache as it is; nothing is read or written.
enum class Giving { write, look };

/// What is known of a host with reservations besides Placement's register. Times are steady.
struct HostNotes {
    /// Room for a server that is not there yet: no reservation takes it.
    struct Left {
        RequestId request;
        Resources amounts;
        Resources used_then;  ///< what servers of his role, or revocable ones, held before he came
        bool borrowed = false;  ///< by a revocable server
        Role role{};            ///< else his
        Duration until{};
        std::set<ServerId> there{};  ///< revocable servers that were on the host before
    };
    /// Tenants that are to go.
    struct AskedBack {
        std::set<ServerId> tenants;
        Duration at{};
    };
    /// What Placement was last asked for a reservation, where it is not known whether it was done.
    enum class Unsure { written, removed };

    std::vector<Left> left;
    std::map<ReservationId, CalmTime> calm;
    std::set<ReservationId> lent_since;  ///< since tenants went for its role last
    HostLoans loans;
    std::map<ReservationId, Unsure> unsure;
    std::string name;   ///< of the host, as it was there last
    std::string unfit;  ///< why the host serves no requests; reported
    std::optional<Duration> gone_since;
    std::uint64_t gone_build = 0;  ///< the bulk reading that the cache was made of then

    bool is_of_use(Duration now) const;
};

/// All that is known of a host's reservations.
struct HostBook : HostNotes {
    static constexpr Duration first_pause{1'000};
    static constexpr Duration longest_pause{60'000};

    HostReservations reservations;
    ReservationRecords records;  ///< as Placement has them
    Duration looked_at{}, retry_at{};
    std::map<ReservationId, AskedBack> asked_back;
    GrowingPause pause{first_pause, longest_pause};
    std::string trouble;
    std::string short_of;            ///< as of what is wanted
    std::vector<std::string> drift;  ///< what another client changed, to be reported
};

/// What becomes of a host's reservations, and what is written to Placement for it.
struct HostChange {
    HostReservations reservations;
    std::vector<ConsumerChange> changes;
};
using HostChanges = std::map<HostId, HostChange>;

/// All reservations, as Placement has them: the consumers that hold a unit of the register's class
/// (reaper/reservations/reservation_record.hpp).
struct RegisterReading {
    struct Found {
        Reservation reservation;
        Consumer record;  ///< with the generation that a change must name
    };
    /// The register's provider is there: `reaper setup reservations` made it.
    bool set_up = true;
    std::map<ReservationId, Found> reservations;
    std::vector<std::string> remarks;  ///< on other consumers there; one line each
};
/// A call for the register and one for each reservation. An error: not all could be read.
ResultTask<RegisterReading> read_register(Placement& placement);

/// For people and programs. Reservations that are alike but for who made them are one.
struct ReservationView {
    ReservationId id;         ///< of several, the first one's
    Reservation reservation;  ///< all of it
    ReservationBalance balance;
    std::string host_name;                         ///< empty: there is no such host
    std::map<std::string, Resources> reservers{};  ///< how much of it is whose
    std::optional<ReservationName> refines{};      ///< the one that it was taken from
    std::vector<ServerId> tenants{};
    Duration calm_for{};    ///< how long it is not lent: its role came a while ago
    std::string trouble{};  ///< why it is not as it should be; or empty
};

/// Why no server can use what is reserved on the host; empty: some can.
std::string why_unusable(const Host& host);

/// One thread; `dependencies` must outlive it.
class HostBooks {
public:
    HostBooks(const boost::asio::any_io_executor& executor,
              const ReservationDependencies& dependencies)
        : dependencies_(dependencies),
          roles_(dependencies.cloud, dependencies.settings),
          writing_(executor, 1) {}
    HostBooks& operator=(HostBooks&&) = delete;

    /// Who changes books waits for his turn; one that orders waits for that first.
    Task<AsyncSemaphore::Permit> turn() { return writing_.acquire(); }
    std::map<HostId, HostBook>& all() noexcept { return books_; }
    HostBook& operator[](const HostId& host) { return books_[host]; }
    HostBook& at(const HostId& host) { return books_.at(host); }
    HostBook* find(const HostId& host);  ///< null: none
    bool contains(const HostId& host) const { return books_.contains(host); }
    /// The host as the cache has it; null: it has none.
    const Host* in_cache(const HostId& host) const {
        return dependencies_.refresher.cache().find(host);
    }
    std::string name_of(const HostId& host) const;
    /// Hosts to which something happened.
    std::set<HostId>& to_look_at() noexcept { return to_look_at_; }
    /// Hosts of which the ledger may have something else.
    std::set<HostId>& to_tell() noexcept { return to_tell_; }

    // The register.

    /// It is to be read: it is not known, or for long.
    bool is_due(std::uint64_t serving, Duration now) const;
    void reading_begins() { written_.clear(); }
    /// As it was read. True: for the first time since this reaper serves under that number.
    bool take_register(RegisterReading reading, std::uint64_t serving, Duration now);
    /// What was there when this reaper served last, by the journal, and no longer is: reported.
    Task<void> find_lost();
    /// It is to be read before anything is reported.
    void forget_register() { known_for_ = 0; }
    /// `serving` when the register was read; 0: it was not, or there is none.
    std::uint64_t known_for() const noexcept { return known_for_; }
    bool has_no_register() const noexcept { return no_register_; }
    std::optional<Error> why_not_known() const;
    bool may_write() const;
    const std::vector<std::string>& remarks() const noexcept { return remarks_; }

    // Roles of projects.

    const ProjectRoles& roles() const noexcept { return roles_; }
    /// The roles of those who have servers there are known then.
    ResultTask<void> learn_roles_on(HostId host);
    /// Empty: of none, or it is not known. A read-only call keeps no other call from asking
    /// Keystone.
    Task<Role> role_of(ProjectId project, Giving giving);

    // One host, which has a book.

    /// Of one that is gone: what its reservations hold.
    HostUse use_now(const HostId& host) const;
    std::map<ReservationId, ReservationBalance> balances_on(const HostId& host) const {
        return balance_of(books_.at(host).reservations, use_now(host));
    }
    Resources left_on(const HostBook::Left& left, const Host& host) const;
    /// All of the plan's room, but for what its victims hold: that is promised with the plan.
    HostBook::Left room_left_for(const RoomWish& wish, const HostPlan& plan,
                                 const Host& host) const;
    /// What is to be written for these reservations, as things are now.
    Result<RecordChanges> wanted_now(const HostId& host, const HostReservations& reservations,
                                     const std::string& mark) const;
    /// Its records as Placement has them now, and the host too, if it is there.
    ResultTask<void> read_again(HostId host);
    /// In one transaction. All of it holds then, and is looked at once more, by what Placement
    /// says.
    ResultTask<void> write(HostChanges hosts);
    void note_whether_gone(const HostId& host);
    /// The cache lacks the host, and may have lost it, as where a part of it can't be read: it had
    /// it within the last minute, or no later reading of the whole cloud lacks it, too.
    bool may_be_lost(const HostId& host) const;
    /// By host name, then role.
    std::vector<ReservationView> list() const;
    /// An event for the journal.
    Task<void> note(const std::string& kind, const std::string& reason);

private:
    static constexpr Duration between_readings = std::chrono::hours{1};
    static constexpr Duration call_deadline{10'000};

    void take_deleted(const std::map<HostId, HostBook>& before, const RegisterReading& reading);
    void take_in(const HostId& host, const ReservationId& id, Consumer read);
    Resources all_left_on(const HostBook& book, const Host& host) const;
    Resources used_by_alike(const HostBook::Left& left, const Host& host) const;
    void remember(const HostBook& book, const ReservationId& id, const Consumer& wanted);
    Task<void> journal_known();

    const ReservationDependencies& dependencies_;
    ProjectRoles roles_;
    AsyncSemaphore writing_;  ///< one change of books at a time
    std::map<HostId, HostBook> books_;
    std::set<HostId> to_look_at_;
    std::set<HostId> to_tell_;
    std::vector<std::string> remarks_;
    bool no_register_ = false;     ///< as of the last reading
    std::uint64_t known_for_ = 0;  ///< `serving` when the register was read
    Duration known_at_{};
    Duration look_again_at_{};   ///< steady; where there is no register
    Duration roles_again_at_{};  ///< steady; after a failure
    // To be journaled: dynamic ones as Placement has them, and those that are no longer there.
    std::vector<KnownReservation> known_there_;
    std::vector<ReservationId> known_gone_;
    std::set<ReservationId> written_;  ///< since the last reading of the register was begun
};

}  // namespace reaper

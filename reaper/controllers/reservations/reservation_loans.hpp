// Idle reserved room for a request, before a server is deleted for it or it is refused: released
// for a request of its role, lent to one of a revocable server. The borrowers, how loans end, and
// what the ledger has of it: what reservations lack and lend is only for their roles.
#pragma once

#include <functional>

#include "reaper/controllers/reservations/host_books.hpp"

namespace reaper {

class ReservationLoans {
public:
    struct Search {
        /// What would be decided for a request if there were these hosts alone.
        std::function<Decision(const Request&, const std::vector<Host>&)> decide;
        /// For a request: hosts that it may go to, whatever is free there; by the cache as it is,
        /// and only as long. None: all hosts.
        std::function<std::function<bool(const HostId&)>(const Request&)> suitable{};
        /// By project, what its revocable servers hold (Strategy::shares); none: first come, first
        /// served.
        std::function<std::optional<std::map<ProjectId, Amount>>()> shares{};
    };
    /// Nothing: there is none, or it can't be: the log says why, and no request waits for it.
    struct Release {
        std::set<ReservationId> by;     ///< they release it
        std::optional<Decision> would;  ///< where nothing is written: what would be decided then
    };

    ReservationLoans(HostBooks& books, const ReservationDependencies& dependencies)
        : books_(books), dependencies_(dependencies) {}

    /// Before a decision: the ledger has what reservations lack and lend, as the cache has it now.
    void update_ledger();
    /// Service hosts with tenants of reservations that are open to the role.
    std::set<std::string> hosts_lent_by(const Role& role) const;

    /// Room that is held for the request's role is released, as much as it lacks, where so many of
    /// its servers as possible fit without a deletion; else where all of them do with at most
    /// `most_victims`. No reservation takes any of that room, be it released or free, within
    /// `promise`, nor while it is promised to the request.
    Task<Release> release_for(Request request, Search search, std::size_t most_victims,
                              Giving giving);
    /// The same for a request of a revocable server: room is lent that is idle, where least is left
    /// over. By fair shares, none of it where a project with a smaller share would borrow that was
    /// refused a moment ago.
    Task<Release> lend_to(Request request, Search search, Giving giving);
    /// The decision was that this room is free for the request: the same holds for it.
    void keep_free_for(const Request& request, const std::vector<HostPlan>& plans);
    /// The hosts where reservations would release something for the request (of its role, or lent
    /// to it if it `borrows`), as they would be without that.
    std::vector<Host> as_if_given(const Request& request) const;
    /// Might any reservation lend anything?
    bool lends() const;

    /// Servers are to be deleted for a request of the role: tenants among them may not come back at
    /// once.
    void on_plan(const Role& role, const Plan& plan);
    /// At most so much; none: all that is lent. With a steady time: of those alone that borrowed by
    /// then.
    void take_back(const HostId& host, const ReservationId& id,
                   const std::optional<Resources>& amounts,
                   const std::optional<Duration>& borrowed_by, const std::string& why);
    /// Those that lasted as long as they may: of servers that borrowed, and of no other server
    /// that is in the way.
    void end_loans(const HostId& host);
    /// Revocable servers that came while room that is lent waited for one.
    void note_borrowers(const Host& host);
    /// Loans that begin or end are reported once.
    Task<void> report_loans(HostId host);
    /// Room that others hold and that is a reservation's: who has it, and that it is collected.
    Task<void> report_debts(HostId host);
    /// What was before this process began, as ledger and journal have it.
    Task<void> recall();

private:
    /// For whom room is released.
    struct Wish : RoomWish {
        bool look = false;          ///< nothing is read or written
        std::set<HostId> others{};  ///< hosts whose idle room is for other borrowers
    };
    /// The last request of a project for which nothing could be lent.
    struct Unmet {
        Request request;
        Duration at{};
    };
    /// What is released for a wish.
    struct Giveaway {
        HostChanges changes;
        std::map<HostId, HostBook::Left> left;
        std::set<ReservationId> by;
        std::vector<std::string> told;
    };
    bool may_give(const Wish& wish, const HostBook& book, const ReservationId& id) const;
    GivenRoom given_on(const Wish& wish, const HostId& host) const;
    std::vector<IdleRoom> idle_rooms(const Wish& wish, const Search& search,
                                     const std::set<HostId>& among,
                                     const std::set<HostId>& unfit) const;
    std::set<HostId> hosts_of_smaller_shares(const Wish& wish, const Search& search);
    FoundRoom find_room(const Wish& wish, const Search& search, const std::set<HostId>& among,
                        const std::set<HostId>& unfit) const;
    void follow_cache();
    ResultTask<Release> release_room(Wish wish, Search search);
    Result<Giveaway> giveaway_for(const Wish& wish, const std::vector<HostPlan>& plans,
                                  std::set<HostId>& unfit) const;
    Task<void> recall_roles();
    Task<void> recall_calm();
    Task<void> recall_loans();

    HostBooks& books_;
    const ReservationDependencies& dependencies_;
    std::set<HostId> told_;  ///< the ledger has something of it
    ChangeLog<HostId>::Reader seen_;
    ChangeLog<Ledger::Change>::Reader seen_ledger_;
    std::uint64_t seen_roles_ = 0;
    Duration release_again_at_{}, lend_again_at_{};  ///< steady; after a failure
    std::map<ProjectId, Unmet> unmet_;               ///< by revocable project
};

}  // namespace reaper

// The ledger: what is being evicted right now, and whom the room is promised to.
//
// Room that two requests could both count is counted for one. For each host and class:
//     room for a request = capacity - used + evicting - promised to other requests
// (`used` has what requesters claimed in Placement, which does not count as promised then.)
// where `evicting` are allocations of victims that Placement still lists (they are being
// deleted), so that a victim's room is counted from the moment that its deletion is decided until
// Placement shows it free, without a gap and never twice. (Mesos' arithmetic for evictions on
// lent reservations: capacity >= occupied + occupied_revocable + evicting.) What a server holds
// whose deletion another client began counts as evicting too (rooms/room.hpp), until the ledger
// gives up on it.
// What a question or a change costs depends on the host or request that it is about, not on how
// much is outstanding. Pure data, one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "reaper/model/change_log.hpp"
#include "reaper/model/cloud.hpp"
#include "reaper/model/ids.hpp"
#include "reaper/model/plan.hpp"
#include "reaper/model/request.hpp"
#include "reaper/model/resources.hpp"
#include "reaper/model/role.hpp"
#include "reaper/model/time.hpp"
#include "reaper/rooms/reserved_room.hpp"
#include "reaper/rooms/room_promise.hpp"

namespace reaper {

/// Room that is kept for requests, found by host, by request, by server group, and by project while
/// a cull is under way, without a look at the rest. Pure data, one thread.
class RoomPromises {
public:
    /// In the order of coming.
    using Number = std::uint64_t;
    using Numbers = std::set<Number>;

    Number add(RoomPromise promise);
    /// It must be there.
    RoomPromise take(Number number);

    const RoomPromise& operator[](Number number) const { return all_.at(number); }
    /// Of what changes, not where it is and until when.
    RoomPromise& change(Number number) { return all_.at(number); }
    void hold_until(Number number, TimePoint until);
    /// All times move.
    void shift(Duration by);

    /// Each in the order of coming.
    const std::map<Number, RoomPromise>& all() const noexcept { return all_; }
    const Numbers& on(const HostId& host) const { return numbers(on_, host); }
    const Numbers& of(const RequestId& request) const { return numbers(of_, request); }
    const Numbers& of_group(const std::string& group) const { return numbers(of_group_, group); }
    /// Of culls that are under way.
    const Numbers& under_way_for(const ProjectId& project) const {
        return numbers(under_way_, project);
    }
    /// Those whose time is over.
    Numbers over(TimePoint now) const;
    bool empty() const noexcept { return all_.empty(); }

private:
    template <class Key>
    using Index = std::unordered_map<Key, Numbers>;

    template <class Key>
    static const Numbers& numbers(const Index<Key>& index, const Key& key) {
        static const Numbers none;
        const auto at = index.find(key);
        return at == index.end() ? none : at->second;
    }

    void forget_time_of(const RoomPromise& promise, Number number);

    std::map<Number, RoomPromise> all_;
    Index<HostId> on_;
    Index<RequestId> of_;
    Index<std::string> of_group_;  // those of a group
    Index<ProjectId> under_way_;   // those without an end
    std::set<std::pair<TimePoint, Number>> until_;
    Number next_ = 0;
};

/// Is the room of such a decision promised to its request? What others are freeing is, and, once
/// servers were deleted for the request, the room that is there: it replaces what its plans
/// promised. To one that waits in the gateway, for the claim is about to come, all of it.
bool promises_room(RequestSource source, const NothingToDo& nothing, bool has_deleted);

class Ledger {
public:
    using HostLookup = std::function<const Host*(const HostId&)>;

    /// A victim that is being deleted.
    struct Eviction {
        RequestId request;
        HostId host;
        ServerId server;
        /// When its cull ended. A host that was read before may still list it, so it counts as
        /// evicting until a later reading.
        std::optional<TimePoint> ended;
        /// Its request's slots rest on it (a victim or pending by its last plan), so that it brings
        /// the room that is promised to them.
        bool counted = true;
    };
    using Promise = RoomPromise;
    /// The result of slots of a settled promise.
    struct Settled {
        RequestId request;
        HostId host;
        /// Who took one slot; none: `slots` slots were not taken in their time.
        std::optional<ServerId> taken_by;
        int slots = 1;

        friend bool operator==(const Settled&, const Settled&) = default;
    };

    Ledger() = default;
    /// As one was (see `evictions`, `promises`) before it expired anything.
    Ledger(const std::vector<Eviction>& evictions, std::vector<Promise> promises);

    /// The victims of `plan` are evicting, and its slots promised to `request` (alternatives too:
    /// they are insurance for it). A further plan for the same request adds to the first, and
    /// replaces its promises.
    /// `has_deleted`: for an earlier one, servers were deleted, whose room the slots may be in.
    void enter(const Request& request, const Plan& plan, TimePoint now, bool has_deleted = false);
    /// The same without a victim: room that is on its way to hosts (NothingToDo).
    void enter(const Request& request, const std::vector<HostPlan>& hosts, TimePoint now,
               bool has_deleted = false);
    /// To be called right after `enter`: like servers that `host_of` shows on the promised hosts by
    /// now are no second tries. Their times do not tell: Nova's are whole seconds.
    void note_there_before(const RequestId& request, const HostLookup& host_of);
    /// The server is no longer evicting.
    void drop_eviction(const ServerId& server);
    /// The same, and it stays (found unfit, or its deletion never happened): on its host nothing is
    /// promised to those who count on its room. They plan again.
    void stays(const ServerId& server);
    /// The cull of `request` ended at `now`, and its victims are gone: its promises hold until
    /// `until`.
    void settle(const RequestId& request, TimePoint now, TimePoint until);
    /// What is promised to it since its cull ended holds until then, neither shorter nor longer.
    void hold_until(const RequestId& request, TimePoint until);
    /// Who takes the request's slots stays of interest after they are promised no more, until
    /// `lapse`.
    void watch(const RequestId& request);
    /// No request waits to see who takes them, and they are no longer promised: the slots that
    /// were not taken. Its evictions stay.
    std::vector<Settled> lapse(const RequestId& request);
    /// A requester of it claimed room on these hosts in Placement: if it is none that is promised
    /// to it, it needs one slot less of those that are.
    void claim(const RequestId& request, const ServerId& server, const std::set<HostId>& hosts);
    /// The claim was taken back.
    void unclaim(const RequestId& request, const ServerId& server);
    /// Is the server counted as one that took a slot of the request?
    bool took_slot(const RequestId& request, const ServerId& server) const;
    /// Nothing is held for `request` from now on.
    void release(const RequestId& request);
    /// Its slots are no longer promised (its requester went away), but its victims go on
    /// going: the next request may count their room. `settle` ends them as usual.
    void release_promises(const RequestId& request);
    /// The server's deletion did not come to its end in time, for any client: what it holds
    /// counts as occupied, until the host is read after `now` and the server is gone from it, or is
    /// no longer being deleted. A victim of a request stays its victim: no other plan chooses
    /// it.
    void give_up_on(const HostId& host, const ServerId& server, TimePoint now);
    bool given_up(const ServerId& server) const { return given_up_.contains(server); }
    std::vector<ServerId> all_given_up() const;
    /// The wall clock was set forward by so much (or back): all times here move with it.
    void shift(Duration by);
    /// What reservations of the host keep for their roles, in place of what was set before. What
    /// they lack counts like a promise, as far as it is not promised to requests that may have it.
    void reserve(const HostId& host, ReservedRoom::OnHost reserved);
    /// From now on it may have what is reserved for its role, and what reservations lend to it.
    void admit(const Request& request);
    /// What reservations keep, and which requests may have it.
    const ReservedRoom& reserved() const noexcept { return reserved_; }
    /// Drops promises whose time is over, and slots of settled promises that a server of the same
    /// project and shape, created (or moved there) after `since`, or one of the requesters itself,
    /// has taken on that host; and evictions that ended before the host was read (`read_at`).
    /// `host_of` tells a host of the cache; null if there is none of that id.
    /// Returns the results of the slots that it dropped: each taken one, and the rest by promise.
    std::vector<Settled> expire(const HostLookup& host_of, TimePoint now);
    std::vector<Settled> expire(const Snapshot& snapshot, TimePoint now);
    /// The same where only the hosts in `changed` differ from those at the last call of either.
    std::vector<Settled> expire(const HostLookup& host_of, const std::set<HostId>& changed,
                                TimePoint now);

    bool evicting(const ServerId& server) const { return evictions_.contains(server); }
    /// None if it is not evicting.
    const Eviction* eviction(const ServerId& server) const;
    /// Evictions of all requests on a host, in order of server id.
    std::vector<ServerId> evicting_on(const HostId& host) const;
    /// All of them, in order of server id.
    std::vector<Eviction> evictions() const;
    /// Evictions of a request, in order of server id.
    std::vector<const Eviction*> evictions_of(const RequestId& request) const;
    /// In no order.
    template <class Visit>
    void each_eviction(Visit visit) const {
        for (const auto& [server, eviction] : evictions_) visit(eviction);
    }
    /// Those that have not ended.
    template <class Visit>
    void each_under_way(Visit visit) const {
        for (const ServerId& server : under_way_) visit(evictions_.at(server));
    }
    /// Promises on a host that are not the request's, with slots that were claimed by now; what
    /// reservations lack is among them.
    Resources promised_to_others(const HostId& host, const RequestId& request) const;
    /// To requests alone.
    Resources promised_to_requests(const HostId& host) const;
    /// To requests of projects with roles.
    std::map<Role, Resources> promised_to_roles(const HostId& host) const;
    /// To requests, in the order of coming. One with 0 slots left counts for nothing.
    std::vector<Promise> promises() const;
    bool promises_anything() const noexcept {
        return !promises_.empty() || reserved_.keeps_anything();
    }
    /// To requests, then to reservations.
    std::vector<const Promise*> promises_on(const HostId& host) const;
    bool promises_anything_on(const HostId& host) const {
        return !promises_.on(host).empty() || !reserved_.kept_on(host).empty();
    }
    std::vector<const Promise*> promises_of(const RequestId& request) const;
    /// Of promises that were just entered: see RoomPromise.
    void mark_released(const RequestId& request) {
        for (const auto number : promises_.of(request)) promises_.change(number).released = true;
    }
    bool has_evictions_of(const RequestId& request) const {
        return evictions_of_.contains(request);
    }
    std::vector<const Promise*> promises_of_group(const std::string& group) const;
    template <class Visit>
    void each_promise(Visit visit) const {
        for (const auto& [number, promise] : promises_.all()) visit(promise);
    }
    /// To requests of the project whose culls are under way.
    template <class Visit>
    void each_under_way_for(const ProjectId& project, Visit visit) const {
        for (const auto number : promises_.under_way_for(project)) visit(promises_[number]);
    }
    bool empty() const noexcept {
        return evictions_.empty() && promises_.empty() && given_up_.empty() && reserved_.empty();
    }
    /// Whose room counts otherwise: a server that is evicting or given up on by now, or no more, or
    /// (without a server) a host whose promises are others.
    struct Change {
        HostId host;
        ServerId server;

        friend bool operator==(const Change&, const Change&) = default;
    };
    const ChangeLog<Change>& changes() const noexcept { return changes_; }
    /// Servers that are given up on at a time; the oldest makes room.
    static constexpr std::size_t max_given_up = 4096;

private:
    static constexpr std::size_t max_takers = 4096;  ///< then those of no use are looked for
    struct GivenUp {
        HostId host;
        TimePoint at{};
    };

    /// Whose slot a server took, and where.
    struct Took {
        RequestId request;
        HostId host;
    };

    void weigh(const HostId& host);
    void promises_changed(const HostId& host);
    void add(Eviction eviction);
    void erase(const ServerId& server);
    void erase_given_up(const ServerId& server);
    void end(Eviction& eviction, TimePoint now);
    std::vector<ServerId> servers_of(const RequestId& request) const;
    void add(Promise promise);
    Promise take(RoomPromises::Number number);
    std::set<HostId> hosts_of_interest() const;
    void count_all_taken(const std::set<HostId>& hosts, const HostLookup& host_of,
                         std::vector<Settled>& settled);
    void expire_evictions(const std::set<HostId>& hosts, const HostLookup& host_of);
    void forget_takers();
    void forget_takers_of(const RequestId& request);
    void drop_late_promises(TimePoint now, std::vector<Settled>& settled);
    void count_taken(Promise& promise, const Host& host, bool requesters_only,
                     std::vector<Settled>& settled);
    void count_claims(Promise& promise, const Host& host);
    bool takes_slot(const Server& server, const Promise& promise, const Host& host) const;
    std::vector<const Promise*> found(const RoomPromises::Numbers& numbers) const;

    std::unordered_map<ServerId, Eviction> evictions_;
    std::unordered_map<RequestId, std::set<ServerId>> evictions_of_;
    std::unordered_map<HostId, std::set<ServerId>> evictions_on_;
    std::set<ServerId> under_way_;  ///< of the evictions, those that have not ended
    RoomPromises promises_;
    RoomPromises watched_;  ///< promised no more: they hold nothing
    ReservedRoom reserved_;
    std::unordered_map<ServerId, GivenUp> given_up_;
    std::unordered_map<HostId, std::set<ServerId>> given_up_on_;
    /// So that it takes no second one while there are promises.
    std::unordered_map<ServerId, Took> took_;
    std::unordered_map<RequestId, std::set<ServerId>> took_from_;
    std::size_t takers_to_sort_out_ = max_takers;
    std::set<HostId> to_look_at_;  ///< changed or not: what is to expire there is other by now
    ChangeLog<Change> changes_;
};

}  // namespace reaper

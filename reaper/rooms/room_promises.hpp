// Room that is kept for requests, found by host, by request, by server group, and by project while
// a cull is under way, without a look at the rest. Pure data, one thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "reaper/model/ids.hpp"
#include "reaper/model/resources.hpp"
#include "reaper/model/role.hpp"
#include "reaper/model/time.hpp"

namespace reaper {

/// Room kept for a request.
struct RoomPromise {
    RequestId request;
    ProjectId project;
    HostId host;
    Resources slot;  ///< of one slot
    int slots = 0;
    std::vector<ServerId> requesters;  ///< known to wait for it
    TimePoint since{};
    std::optional<TimePoint> until;  ///< none while the cull is under way
    bool watched = false;            ///< when its time is over, who comes is still of interest
    std::vector<ServerId> there_before{};  ///< look like second tries, but are none
    std::string group{};                   ///< the requesters' server group; empty: none
    /// Of a slot, what comes from one provider each.
    std::vector<Resources> groups{};

    /// Of the slots, those that a requester holds in Placement without being there yet.
    int claimed = 0;
    /// Not for a request: a reservation of this role is to take the room (reserved_room.hpp).
    ReservationId reservation{};
    Role role{};
    /// Of a reservation: others have the room now.
    bool occupied = false;
    /// A reservation lets go of it for the request, which decides next.
    bool released = false;
    /// Requesters that hold room on another host by now: their slots here are of no use to them.
    std::set<ServerId> elsewhere{};

    /// Is it one of the requesters?
    bool is_for(const ServerId& server) const {
        return std::find(requesters.begin(), requesters.end(), server) != requesters.end();
    }
    /// Slots that are of use to the request.
    int kept() const { return std::max(slots - static_cast<int>(elsewhere.size()), 0); }
    /// Of them, those that nobody holds: what is promised besides all that is used.
    int open() const { return std::max(kept() - claimed, 0); }
};

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

}  // namespace reaper

// An entry of the ledger: room that is promised to a request, or left to a reservation. Pure data.
#pragma once

#include <algorithm>
#include <optional>
#include <set>
#include <string>
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
    /// A reservation releases it for the request, which decides next.
    bool released = false;
    /// Requesters that hold room on another host by now: their slots here are of no use to them.
    std::set<ServerId> elsewhere{};
    /// Servers whose room the slots count on, and that are deleted for others.
    std::set<ServerId> awaits{};

    /// Is it one of the requesters?
    bool is_for(const ServerId& server) const {
        return std::find(requesters.begin(), requesters.end(), server) != requesters.end();
    }
    /// Slots that are of use to the request.
    int kept() const { return std::max(slots - static_cast<int>(elsewhere.size()), 0); }
    /// Of them, those that no server holds: what is promised besides all that is used.
    int open() const { return std::max(kept() - claimed, 0); }
};

}  // namespace reaper

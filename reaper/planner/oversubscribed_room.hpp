// Room that is sold beyond what is allocated, as Placement has it: inventories of revocable classes
// that stand for another one (reaper/model/res_type). What people are shown of it.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>

#include "reaper/model/cloud.hpp"

namespace reaper {

struct OversubscribedRoom {
    Amount published = 0;   ///< 0 of an inventory on which nothing may start
    Amount used = 0;        ///< more than that: some is to go, or to end
    Amount free = 0;        ///< available
    std::size_t hosts = 0;  ///< with an inventory of it
    /// What the estimates allow, of the hosts of which that is known; none: of no host.
    std::optional<Amount> wanted{};
};

/// What a daemon's estimator allows on each host, as that daemon reports it.
struct EstimatedRoom {
    ResourceClass of;
    std::map<HostId, Amount> wanted;  ///< a host that is not there: not known
};

using OversubscribedRooms = std::map<ResourceClass, OversubscribedRoom>;

/// By class; classes of which the host has no inventory, and for which nothing is estimated, are
/// left out.
OversubscribedRooms oversubscribed_room(const Host& host,
                                        const std::set<ResourceClass>& revocable_classes,
                                        const EstimatedRoom& estimated = {});

/// Those of one more host.
void add(OversubscribedRooms& all, const OversubscribedRooms& here);

/// Of all hosts together.
OversubscribedRooms oversubscribed_room(const Snapshot& snapshot,
                                        const EstimatedRoom& estimated = {});

/// Whether room of one of these classes is oversubscribed.
bool any_oversubscribed(const std::set<ResourceClass>& revocable_classes);

}  // namespace reaper

// Room that is sold beyond what is allocated, as Placement has it: inventories of revocable classes
// that stand for another one (reaper/model/res_type). What people are shown of it.
#pragma once

#include <cstddef>
#include <map>
#include <set>

#include "reaper/model/cloud.hpp"

namespace reaper {

struct OversubscribedRoom {
    Amount published = 0;   ///< 0 of an inventory on which nothing may start
    Amount used = 0;        ///< more than that: some is to go, or to end
    Amount free = 0;        ///< somebody may take it
    std::size_t hosts = 0;  ///< with an inventory of it
};
using OversubscribedRooms = std::map<ResourceClass, OversubscribedRoom>;

/// By class; classes of which the host has no inventory are left out.
OversubscribedRooms oversubscribed_room(const Host& host,
                                        const std::set<ResourceClass>& revocable_classes);

/// Of all hosts together.
OversubscribedRooms oversubscribed_room(const Snapshot& snapshot);

}  // namespace reaper

// What oversubscription needs in Placement and Nova: a resource class, a nested provider for it
// below each host, and example flavors. The provider has no inventory until room is published.
// Servers of the flavors take such room in place of VCPU. This file determines what to change to
// get there, or to undo it. Pure.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "reaper/model/flavor.hpp"
#include "reaper/setup/slots.hpp"

namespace reaper {

/// What there is now.
struct RoomView {
    SlotView slots;
    std::map<std::string, Flavor> flavors;  ///< all of the cloud, by id
    std::set<std::string> in_use;           ///< names of flavors that servers have
};

/// `revocable.small` and `revocable.medium`: 1 and 2 vCPUs of the class, and none of VCPU. Memory
/// and disk are ordinary room.
std::vector<Flavor> example_flavors(const ResourceClass& room_class);

/// Does the flavor ask for some of the class?
bool asks_for(const Flavor& flavor, const ResourceClass& room_class);

/// The class, the hosts in their order, the flavors. What exists is kept; a flavor of such a name
/// that is another one is refused; properties `quota:*` make it no other one.
std::vector<SlotStep> room_to_set_up(const RoomView& view, const ResourceClass& room_class);

/// The flavors, the hosts, the class. What is in use stays, and what others put there
/// too.
std::vector<SlotStep> room_to_undo(const RoomView& view, const ResourceClass& room_class);

}  // namespace reaper

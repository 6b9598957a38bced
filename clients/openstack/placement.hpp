// Placement as the Placement port.
//
// Any microversion from 1.14 (Queens: nested providers) to 1.39 (Zed) does. `provider` sends three
// calls at once; whoever reads many providers should bound how many it reads at a time, since
// waiting for a connection counts against each call's deadline.
#pragma once

#include <memory>

#include "clients/openstack/service.hpp"
#include "reaper/ports/placement.hpp"

namespace reaper::openstack {

inline constexpr Need placement_need{{1, 14}, {1, 39}, "Queens"};

std::unique_ptr<Placement> make_placement(std::shared_ptr<Service> placement);

}  // namespace reaper::openstack

// Placement as the port of `reaper setup`.
#pragma once

#include <memory>

#include "clients/openstack/service.hpp"
#include "reaper/ports/placement_setup.hpp"

namespace reaper::openstack {

/// Microversions as for the Placement port (clients/openstack/placement.hpp).
std::unique_ptr<PlacementSetup> make_placement_setup(std::shared_ptr<Service> placement);

}  // namespace reaper::openstack

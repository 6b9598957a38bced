// Nova as the FlavorSetup port. Internal to clients/openstack.
#pragma once

#include <memory>

#include "clients/openstack/service.hpp"
#include "reaper/ports/flavor_setup.hpp"

namespace reaper::openstack {

std::unique_ptr<FlavorSetup> make_flavor_setup(std::shared_ptr<Service> nova);

}  // namespace reaper::openstack

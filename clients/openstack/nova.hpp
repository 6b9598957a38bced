// Nova as the Compute port.
//
// Any microversion from 2.53 (Pike: hypervisors with UUIDs) to 2.72 (Stein) does; the newest that
// Nova has is taken. Later ones add nothing that the port tells, and from 2.88 on a list of
// hypervisors costs one RPC per host.
#pragma once

#include <memory>

#include "clients/openstack/service.hpp"
#include "reaper/ports/compute.hpp"

namespace reaper::openstack {

inline constexpr Need nova_need{{2, 53}, {2, 72}, "Pike"};

std::unique_ptr<Compute> make_compute(std::shared_ptr<Service> nova);

}  // namespace reaper::openstack

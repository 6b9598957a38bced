// What openstack.cpp puts together: Nova, Placement and Keystone as ports. Internal to
// clients/openstack; a clock must outlive what is made with it, and its calls.
#pragma once

#include <memory>

#include "clients/openstack/service.hpp"
#include "clients/openstack/session.hpp"
#include "reaper/ports/compute.hpp"
#include "reaper/ports/identity.hpp"
#include "reaper/ports/placement.hpp"
#include "reaper/ports/setup_ports.hpp"

namespace reaper::openstack {

/// Any microversion from 2.53 (Pike: hypervisors with UUIDs) to 2.72 (Stein) does; the newest that
/// Nova has is taken. Later ones add little that the port shows, and from 2.88 on a list of
/// hypervisors costs one RPC per host. One server is asked for with the newest up to 2.100:
/// from 2.96 (2024.1) on it shows its zone, from 2.100 (2025.1) on its hints. One action is asked
/// for with the newest up to 2.84 (Wallaby), which says why it failed.
inline constexpr Need nova_need{{2, 53}, {2, 72}, "Pike"};
inline constexpr Version newest_for_a_server{2, 100};
inline constexpr Version newest_for_an_action{2, 84};
/// The newest that shows the numbers of services and hypervisors is 2.52; the oldest does too.
inline constexpr Version with_numbers{2, 1};
/// A host is named by its UUID, and asked for its uptime by a call of its own (until 2.87).
inline constexpr Version with_uptime{2, 53};

std::unique_ptr<Compute> make_compute(std::shared_ptr<Service> nova, Clock& clock);
std::unique_ptr<FlavorSetup> make_flavor_setup(std::shared_ptr<Service> nova);

/// Any microversion from 1.14 (Queens: nested providers) to 1.39 (Zed) does.
inline constexpr Need placement_need{{1, 14}, {1, 39}, "Queens"};

/// Its `provider` sends three calls at once; a caller with many providers should bound how many it
/// reads at a time, since waiting for a connection counts against each call's deadline.
std::unique_ptr<Placement> make_placement(std::shared_ptr<Service> placement);
std::unique_ptr<PlacementSetup> make_placement_setup(std::shared_ptr<Service> placement);

std::unique_ptr<Identity> make_identity(std::shared_ptr<Session> session);
/// Address and version of Keystone's API.
ResultTask<EndpointInfo> keystone_info(std::shared_ptr<Session> session);

}  // namespace reaper::openstack

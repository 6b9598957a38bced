// Nova as the Compute port.
//
// Any microversion from 2.53 (Pike: hypervisors with UUIDs) to 2.72 (Stein) does; the newest that
// Nova has is taken. Later ones add little that the port tells, and from 2.88 on a list of
// hypervisors costs one RPC per host. One server is asked for with the newest up to 2.100:
// from 2.96 (2024.1) on it tells its zone, from 2.100 (2025.1) on its hints. One action is asked
// for with the newest up to 2.84 (Wallaby), which tells why it failed.
#pragma once

#include <memory>

#include "clients/openstack/service.hpp"
#include "reaper/ports/compute.hpp"

namespace reaper::openstack {

inline constexpr Need nova_need{{2, 53}, {2, 72}, "Pike"};
inline constexpr Version newest_for_a_server{2, 100};
inline constexpr Version newest_for_an_action{2, 84};
/// The newest that shows the numbers of services and hypervisors is 2.52; the oldest does too.
inline constexpr Version with_numbers{2, 1};
/// A host is named by its UUID, and asked for its uptime by a call of its own (until 2.87).
inline constexpr Version with_uptime{2, 53};

/// `clock` must outlive it and its calls.
std::unique_ptr<Compute> make_compute(std::shared_ptr<Service> nova, Clock& clock);

}  // namespace reaper::openstack

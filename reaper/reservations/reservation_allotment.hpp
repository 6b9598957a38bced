// From what reservations are to hold on a host to what each holds on which of its providers, and
// from a host to how it is used.
#pragma once

#include <functional>
#include <map>
#include <optional>

#include "reaper/model/cloud.hpp"
#include "reaper/reservations/reservation_balance.hpp"

namespace reaper {

/// The role of a project; none: its servers are of no role.
using RoleOfProject = std::function<std::optional<Role>(const ProjectId&)>;

/// What the consumers of the reservations hold, by provider.
using ReservedAllocations = std::map<ReservationId, Allocations>;

/// How the host is used. `promised`: of what is free, to requests; it is left alone.
HostUse use_of(const Host& host, const ReservedAllocations& held, const RoleOfProject& role_of,
               const Resources& promised);

/// What each is to hold, as near to `next` as the units of the inventories and what is free on
/// each provider let it be; where it holds something already, it stays. Not more than `next`.
ReservedAllocations allot(const Host& host, const ReservedAllocations& held,
                          const std::map<ReservationId, Resources>& next);

}  // namespace reaper

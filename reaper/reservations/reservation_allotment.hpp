// From what reservations are to hold on a host to what each holds on which of its providers, and
// from a host to how it is used.
#pragma once

#include <functional>
#include <map>
#include <optional>

#include "reaper/model/cloud.hpp"
#include "reaper/reservations/reservation_balance.hpp"
#include "reaper/rooms/ledger.hpp"

namespace reaper {

/// The role of a project; none: its servers are of no role.
using RoleOfProject = std::function<std::optional<Role>(const ProjectId&)>;

/// What the consumers of the reservations hold, by provider.
using ReservedAllocations = std::map<ReservationId, Allocations>;

/// Will it soon release its room?
bool is_leaving(const Server& server, const Ledger& ledger);

/// How the host is used. What is promised to requests is left alone; a server that is being deleted
/// does not stay. Nothing waits.
HostUse use_of(const Host& host, const ReservedAllocations& held, const RoleOfProject& role_of,
               const Ledger& ledger);

/// What each is to hold, as near to `next` as the units of the inventories and what is free on
/// each provider let it be; where it holds something already, it stays. Not more than `next`.
ReservedAllocations allot(const Host& host, const ReservedAllocations& held,
                          const std::map<ReservationId, Resources>& next);

}  // namespace reaper

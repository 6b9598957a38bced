// Places of Placement's answer: how many of them nova-scheduler takes, as far as it is known.
#pragma once

#include "reaper/gateway/candidates.hpp"
#include "reaper/gateway/gateway_ports.hpp"

namespace reaper {

/// So many servers are rarely asked for at once; the requester is not looked up for more places.
constexpr Amount many_places = 64;
/// Others may claim so many before the requester does.
constexpr Amount few_places = 16;

/// Placement does not know that a compute service is down.
bool is_down(const Host& host);
/// Besides on hosts of which it is known that nova-scheduler takes none of them.
Amount usable_places(const CloudCache& cache, const Candidates& candidates);
/// Of its servers, besides on hosts that are no place for it. The filters of nova-scheduler's that
/// the planner knows count: where servers of its group are, hints, aggregates, cells.
Amount places_for(const GatewayPorts& ports, const Request& wanted, const Candidates& candidates);
/// With those that are kept for the request.
Amount places_of(const GatewayPorts& ports, const Request& wanted, const Candidates& candidates);
/// Has Placement offered places for all of its servers? Of few that servers of a group or of hints
/// may have, some may be gone by what is not known yet: the planner has to tell, which reads again.
bool is_enough(const GatewayPorts& ports, const Candidates& candidates, const Request& wanted);

}  // namespace reaper

// What nova-scheduler's request filters add to the query for Placement, aggregates aside: traits
// of the host itself.
//
// Source: nova.scheduler.request_filter of Zed to 2026.2.
#pragma once

#include <set>

#include "reaper/model/placement_constraints.hpp"
#include "reaper/request_spec/resource_request.hpp"

namespace reaper {

/// Traits that the host's root provider must have. `bad_input`: Nova would refuse the flavor with
/// this image.
///
/// Not known from outside: what ports ask of their networks (routed networks, SmartNICs, bandwidth)
/// and the resources of device profiles, which come from Neutron and Cyborg.
Result<std::set<Trait>> root_traits(const ServerSpec& spec, const SchedulerRules& rules);

}  // namespace reaper

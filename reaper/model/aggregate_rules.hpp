// What the metadata of a host aggregate means to nova-scheduler's query for Placement.
//
// Source: nova.scheduler.request_filter (require_tenant_aggregate, map_az_to_placement_aggregate,
// isolate_aggregates).
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "reaper/model/ids.hpp"

namespace reaper {

using AggregateMetadata = std::map<std::string, std::string>;

/// Is it one of the project's own (`filter_tenant_id*`)? Unlike the filter
/// AggregateMultiTenancyIsolation, which takes lists, the query looks for a value that is the
/// project and nothing else.
bool belongs_to(const AggregateMetadata& metadata, const ProjectId& project);

/// Is it of the availability zone?
bool is_zone(const AggregateMetadata& metadata, const std::string& zone);

/// A trait that requests have to require to get in (`trait:T=required`), and that is not among
/// these; none if there is no such trait.
std::optional<std::string> isolating_trait(const AggregateMetadata& metadata,
                                           const std::set<Trait>& required);

}  // namespace reaper

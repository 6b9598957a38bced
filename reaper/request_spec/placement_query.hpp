// What Nova's scheduler asks of Placement for a request: `GET /allocation_candidates`, parameter by
// parameter. tests/data/placement_queries has what it really asked.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reaper/model/placement_constraints.hpp"
#include "reaper/model/records.hpp"
#include "reaper/model/request.hpp"

namespace reaper {

/// Names and values, in order; a name may be there several times (`member_of`).
using PlacementQuery = std::vector<std::pair<std::string, std::string>>;

/// One query, or two where dedicated CPUs may be had as VCPU; none if nova-scheduler refuses the
/// project before it asks (`placement_aggregate_required_for_tenants`). `aggregates` are all of
/// the cloud's, `hosts` those that the request may name.
std::vector<PlacementQuery> placement_queries(const Request& request, const SchedulerRules& rules,
                                              const std::vector<AggregateRecord>& aggregates,
                                              const std::vector<HypervisorRecord>& hosts);

/// `A,B` taken apart; as many words as there are, empty ones too.
std::vector<std::string> words_of(std::string_view list);
std::string joined(const std::vector<std::string>& words);

/// `limit=1000&resources=VCPU:2...`, for people: nothing is escaped.
std::string to_string(const PlacementQuery& query);

}  // namespace reaper

// The JSON of what a slot takes and where a request may land, and of the aggregates of a host.
#pragma once

#include <nlohmann/json.hpp>

#include "reaper/json/json_place.hpp"
#include "reaper/model/placement_constraints.hpp"
#include "reaper/model/request.hpp"

namespace reaper::report {

nlohmann::json to_json(const std::set<Trait>& traits);
nlohmann::json to_json(const SlotShape& shape);
/// Each throws WrongJson.
std::set<Trait> traits_from(const JsonPlace& in);
SlotShape shape_from(const JsonPlace& in);

/// {group (or null): {id, name, policy, max_on_a_host, members[]}, only_hosts[], why_only,
///  aggregates[[uuid]], with[], apart_from[], only_offered?: true}
nlohmann::json to_json(const PlacementConstraints& placement);
/// Throws WrongJson.
PlacementConstraints placement_from(const JsonPlace& in);

/// [{uuid, name, metadata}]
nlohmann::json to_json(const HostAggregates& aggregates);
/// Throws WrongJson.
HostAggregates aggregates_from(const JsonPlace& in);

}  // namespace reaper::report

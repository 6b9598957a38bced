// The JSON of where a request may land, and of the aggregates of a host.
#pragma once

#include <nlohmann/json.hpp>

#include "reaper/model/placement_constraints.hpp"
#include "reaper/report/json_place.hpp"

namespace reaper::report {

/// {group (or null): {id, name, policy, most_on_a_host, members[]}, only_hosts[], why_only,
///  aggregates[[uuid]], with[], apart_from[]}
nlohmann::json to_json(const Landing& landing);
/// Throws WrongPlace.
Landing landing_from(const JsonPlace& in);

/// [{uuid, name, metadata}]
nlohmann::json to_json(const HostAggregates& aggregates);
/// Throws WrongPlace.
HostAggregates aggregates_from(const JsonPlace& in);

}  // namespace reaper::report

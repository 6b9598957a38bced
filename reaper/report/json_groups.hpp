// The JSON of a request's granular groups.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "reaper/json/json_place.hpp"
#include "reaper/model/request_groups.hpp"

namespace reaper::report {

/// [{suffix, resources, required_traits[], forbidden_traits[], and, where it is bound to places:
///  aggregates[[uuid]], in_tree}]
nlohmann::json to_json(const std::vector<RequestGroup>& groups);
/// Throws WrongJson.
std::vector<RequestGroup> groups_from(const JsonPlace& in);

}  // namespace reaper::report

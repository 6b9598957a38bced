// The body of Placement's `POST /allocations`.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "reaper/model/records.hpp"

namespace reaper {

/// By consumer. `with_types`: as of microversion 1.38, where each must have one.
nlohmann::json holdings_json(const std::vector<ConsumerChange>& changes, bool with_types);

}  // namespace reaper

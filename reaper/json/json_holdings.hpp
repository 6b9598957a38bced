// The body of Placement's `POST /allocations`, and its answer.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "reaper/model/records.hpp"

namespace reaper {

/// By consumer. `with_types`: as of microversion 1.38, where each must have one.
nlohmann::json holdings_json(const std::vector<ConsumerChange>& changes, bool with_types);
/// Of a 409, since microversion 1.23: another client changed the provider or the consumer
/// meanwhile, and the call may be made again. (The other 409 says that it can't be done.)
bool is_concurrent_update(std::string_view answer);

}  // namespace reaper

// The small languages of option values, and suggestions for typing errors.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reaper/model/error.hpp"
#include "reaper/model/resources_text.hpp"
#include "reaper/model/time.hpp"

namespace reaper::cli {

using reaper::parse_resources;

enum class TraitRule { required, forbidden };

/// `CUSTOM_GPU=required` or `CUSTOM_GPU=forbidden`, as in a flavor; without `=`, required.
Result<std::pair<std::string, TraitRule>> parse_trait(std::string_view text);

/// The candidate that `word` was probably meant to be; empty if none is near.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

/// `2026-11-01`, `2026-11-01T12:30:00` or with `Z`; UTC. None for other text.
std::optional<TimePoint> point_in_time(const std::string& text);

}  // namespace reaper::cli

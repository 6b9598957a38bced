// The small languages of option values, and suggestions for typing errors.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reaper/model/error.hpp"
#include "reaper/model/resources.hpp"

namespace reaper::cli {

/// `VCPU=4,MEMORY_MB=2048`: classes as Placement writes them, amounts above 0, no class twice.
/// `bad_input` says what was expected.
Result<Resources> parse_resources(std::string_view text);

enum class TraitRule { required, forbidden };

/// `CUSTOM_GPU=required` or `CUSTOM_GPU=forbidden`, as in a flavor; without `=`, required.
Result<std::pair<std::string, TraitRule>> parse_trait(std::string_view text);

/// The candidate that `word` was probably meant to be; empty if none is near.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace reaper::cli

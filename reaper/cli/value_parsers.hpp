// The small languages of option values, and suggestions for typing errors.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reaper/model/error.hpp"
#include "reaper/model/resources_text.hpp"

namespace reaper::cli {

/// The candidate that `word` was probably meant to be; empty if none is near.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace reaper::cli

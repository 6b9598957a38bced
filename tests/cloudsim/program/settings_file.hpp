// The simulated cloud's settings from YAML. Unknown keys are refused.
#pragma once

#include <string>

#include "tests/cloudsim/core/settings.hpp"

namespace reaper::cloudsim {

/// Settings are changed by what the text says. Throws std::runtime_error with one line: where,
/// what.
void read_settings(const std::string& yaml, const std::string& where, Settings& settings);

/// `200ms`, `2s`, `5min`, `1h`, or a number of seconds. Throws std::runtime_error.
Micros duration_in(const std::string& text);

}  // namespace reaper::cloudsim

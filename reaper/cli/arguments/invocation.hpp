// Who runs a command, and when.
#pragma once

#include <string>

#include "reaper/model/time.hpp"

namespace reaper::cli {

/// The user; behind sudo, the person: `alice (as reaper)`.
std::string operator_name();

/// By the wall clock, for commands that run without a daemon or a cloud.
TimePoint now();

}  // namespace reaper::cli

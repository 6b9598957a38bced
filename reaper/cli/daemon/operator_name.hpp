// Who types a command.
#pragma once

#include <string>

namespace reaper::cli {

/// The user; behind sudo, the person: `alice (as reaper)`.
std::string operator_name();

}  // namespace reaper::cli

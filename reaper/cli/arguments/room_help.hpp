// What `reaper room --help` says.
#pragma once

#include "reaper/cli/arguments/help_text.hpp"

namespace reaper::cli::help {

extern const Text room;

}  // namespace reaper::cli::help

// What a shell completes: commands, options, and values where these are known.
#pragma once

#include <string>

#include "reaper/cli/arguments/command_table.hpp"

namespace reaper::cli {

/// To be sourced by bash (4 or newer), or put where bash-completion looks.
std::string bash_completion(const CommandEntry& program);

/// A file `_reaper` of zsh's fpath.
std::string zsh_completion(const CommandEntry& program);

}  // namespace reaper::cli

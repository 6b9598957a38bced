// The configuration as far as commands on this machine need it: status, history, pause, resume and
// request work without secrets, and while something else in the file is wrong.
#pragma once

#include <optional>

#include "config/loader.hpp"
#include "reaper/cli/arguments.hpp"
#include "reaper/cli/terminal.hpp"

namespace reaper::cli {

/// None if these settings are wrong, or the file can't be read: then every mistake was told.
std::optional<config::LocalSettings> local_settings(const GlobalOptions& global,
                                                    const Terminal& terminal);

}  // namespace reaper::cli

// `--watch`: a list again and again, until Ctrl-C ends the program.
#pragma once

#include <functional>

#include "reaper/cli/output/terminal.hpp"

namespace reaper::cli {

/// Shows frame after frame; `pause` waits between two, and says whether there is another. A first
/// one that fails ends it, and so does a later one for which the command line or the configuration
/// is wrong; any other failure is told, and tried again.
ExitCode watch(const Terminal& terminal, const std::function<ExitCode()>& frame,
               const std::function<bool()>& pause);

}  // namespace reaper::cli

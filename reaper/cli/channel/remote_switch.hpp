// Pause, resume and status of the daemon that --api names.
#pragma once

#include "reaper/cli/arguments/arguments.hpp"
#include "reaper/cli/output/terminal.hpp"

namespace reaper::cli {

ExitCode pause_remotely(const GlobalOptions& global, const PauseCommand& command,
                        const Terminal& terminal);
ExitCode resume_remotely(const GlobalOptions& global, const Terminal& terminal);
ExitCode show_status_remotely(const GlobalOptions& global, const Terminal& terminal);

}  // namespace reaper::cli

// `reaper history --api`: what the journal of a daemon elsewhere tells.
#pragma once

#include "reaper/cli/arguments/arguments.hpp"
#include "reaper/cli/output/terminal.hpp"

namespace reaper::cli {

ExitCode history_remotely(const GlobalOptions& global, const HistoryCommand& command,
                          const Terminal& terminal);

}  // namespace reaper::cli

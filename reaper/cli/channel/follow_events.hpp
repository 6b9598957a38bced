// Follows a daemon by its event stream, over its restarts, or a journal of this machine.
#pragma once

#include <functional>

#include "reaper/cli/channel/daemon_api.hpp"
#include "reaper/cli/output/terminal.hpp"

namespace reaper::cli {

/// Calls `look` at once, and whenever the daemon says that something may have happened. A daemon
/// that goes away, or that does not answer as it should for a while, is connected to again, later
/// and later, and looked at again then; stderr says so. `look` asks the daemon, and is false if it
/// did not answer; it remembers what it saw, so nothing comes twice or is left out. Ends on Ctrl-C
/// (`ok`), with the first look if that fails, and with an answer that no other try would change.
ExitCode follow_events(DaemonApi& api, const std::function<bool(ExitCode&)>& look,
                       const Terminal& terminal);

}  // namespace reaper::cli

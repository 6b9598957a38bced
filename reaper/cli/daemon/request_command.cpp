// `reaper request`: asks the running daemon for room, and shows what it does.
#include "reaper/cli/arguments/commands.hpp"
#include "reaper/cli/channel/daemon_api.hpp"
#include "reaper/cli/daemon/request_progress.hpp"

namespace reaper::cli {

ExitCode request_room(const GlobalOptions& global, const RequestCommand& command,
                      const Terminal& terminal) {
    auto api = daemon_api(global, terminal);
    if (!api) return ExitCode::usage;
    return show_request(*api, body_of(command), terminal);
}

}  // namespace reaper::cli

// `reaper request`: asks the running daemon for room, and shows what it does.
#include "reaper/cli/commands.hpp"
#include "reaper/cli/local_settings.hpp"
#include "reaper/cli/request_progress.hpp"

namespace reaper::cli {

ExitCode request_room(const GlobalOptions& global, const RequestCommand& command,
                      const Terminal& terminal) {
    const auto settings = local_settings(global, terminal);
    if (!settings) return ExitCode::usage;
    const std::string socket = daemon_socket(global, *settings, terminal);
    if (socket.empty()) return ExitCode::usage;
    return show_request(socket, body_of(command), terminal);
}

}  // namespace reaper::cli

// `reaper health`: whether the daemon runs and is ready, for health checks of containers.
#include "reaper/cli/arguments/commands.hpp"
#include "reaper/cli/channel/api_channel.hpp"
#include "reaper/cli/daemon/daemon_health.hpp"
#include "reaper/cli/daemon/local_settings.hpp"
#include "reaper/cli/output/list_output.hpp"
#include "reaper/report/json.hpp"

namespace reaper::cli {
namespace {

using State = DaemonHealth::State;

/// None, and told, if nobody can be asked.
std::optional<DaemonHealth> asked(const GlobalOptions& global, const Terminal& terminal) {
    if (global.api.url.empty()) {
        const auto settings = local_settings(global, terminal);
        if (!settings) return std::nullopt;
        return local_health(*settings);
    }
    return health_over(global.api);
}

ExitCode code_of(const DaemonHealth& health, bool only_live) {
    switch (health.state) {
        case State::ready: return ExitCode::ok;
        case State::not_ready: return only_live ? ExitCode::ok : ExitCode::attention;
        default: return ExitCode::failed;
    }
}

}  // namespace

ExitCode show_health(const GlobalOptions& global, const HealthCommand& command,
                     const Terminal& terminal) {
    const auto health = asked(global, terminal);
    if (!health) return ExitCode::usage;
    const auto document = [&] {
        return nlohmann::json{{"version", report::json_version}, {"daemon", to_json(*health)}};
    };
    const ExitCode shown =
        show_document(terminal, document, [&] { return to_text(*health) + "\n"; });
    return shown == ExitCode::ok ? code_of(*health, command.live) : shown;
}

}  // namespace reaper::cli

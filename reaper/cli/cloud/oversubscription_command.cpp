// `reaper oversubscription`: it asks the running daemon.
#include <nlohmann/json.hpp>

#include "reaper/cli/arguments/commands.hpp"
#include "reaper/cli/channel/daemon_api.hpp"
#include "reaper/cli/output/list_output.hpp"
#include "reaper/cli/output/oversubscription_table.hpp"

namespace reaper::cli {

ExitCode show_oversubscription(const GlobalOptions& global, const Terminal& terminal) {
    auto api = daemon_api(global, terminal);
    if (!api) return ExitCode::usage;
    ExitCode code{};
    // 404: the configuration has it off.
    const auto said = api->get("/v1/oversubscription", code, ExitCode::usage);
    if (!said) return code;
    return show_list(terminal, {oversubscription_table(*said), [&said] { return *said; }, "hosts"});
}

}  // namespace reaper::cli

// `reaper config`: what is in effect, or only whether it is right.
#include "config/loader.hpp"
#include "reaper/cli/commands.hpp"
#include "reaper/cli/settings_json.hpp"
#include "reaper/daemon/composition.hpp"
#include "reaper/report/json.hpp"

namespace reaper::cli {

ExitCode show_config(const GlobalOptions& global, const ConfigCommand& command,
                     const Terminal& terminal) {
    const auto complain = [&](const std::string& line) { terminal.complain(line); };
    const auto warn = [&](const std::string& line) { terminal.warn(line); };
    const auto settings = load_config(global.config_file, complain, warn);
    if (!settings) return ExitCode::usage;
    if (command.check) {
        terminal.answer(terminal.json()
                            ? report::dump({{"file", global.config_file}, {"valid", true}}, 2) +
                                  "\n"
                            : global.config_file + ": the configuration is valid\n");
        return ExitCode::ok;
    }
    terminal.answer(terminal.json() ? report::dump(to_json(*settings), 2) + "\n"
                                    : config::to_yaml(*settings));
    return ExitCode::ok;
}

}  // namespace reaper::cli

#include "reaper/cli/local_settings.hpp"

#include <utility>
#include <variant>
#include <vector>

namespace reaper::cli {

std::optional<config::LocalSettings> local_settings(const GlobalOptions& global,
                                                    const Terminal& terminal) {
    auto loaded = config::load_local(global.config_file, config::system_environment());
    if (auto* const settings = std::get_if<config::LocalSettings>(&loaded))
        return std::move(*settings);
    for (const auto& error : std::get<std::vector<config::ConfigError>>(loaded))
        terminal.complain(config::to_string(error));
    return std::nullopt;
}

}  // namespace reaper::cli

#include "reaper/cli/output/daemon_lines.hpp"

#include <spdlog/spdlog.h>

#include "reaper/daemon/logging.hpp"

namespace reaper::cli {

std::function<void(std::string)> daemon_lines(const Terminal& terminal,
                                              spdlog::level::level_enum level) {
    if (daemon_style("auto") != LogStyle::journald)
        return [&terminal, level](const std::string& line) {
            level == spdlog::level::warn ? terminal.warn(line) : terminal.complain(line);
        };
    set_up_logging(LogStyle::journald, "info", false);
    return [level](const std::string& line) { spdlog::log(level, "{}", line); };
}

}  // namespace reaper::cli

// What stderr says in JSON mode: one line of JSON for each error and warning.
#pragma once

#include <functional>
#include <spdlog/common.h>
#include <string>
#include <string_view>

#include "reaper/cli/output/terminal.hpp"
#include "reaper/daemon/exit_code.hpp"

namespace reaper::cli {

/// `{"error": {"message", "exit_code"}}`, with a newline.
std::string error_line(std::string_view message, ExitCode code);

/// `{"warning": {"message"}}`, with a newline.
std::string warning_line(std::string_view message);

/// Does a command line that is not understood ask for JSON?
bool asks_for_json(int argc, const char* const* argv);

// What a daemon says before its configuration is loaded.

/// Lines about a configuration that may not be loaded yet: journald gets their priority, people the
/// program's name. The terminal must outlive it.
std::function<void(std::string)> daemon_lines(const Terminal& terminal,
                                              spdlog::level::level_enum level);

}  // namespace reaper::cli

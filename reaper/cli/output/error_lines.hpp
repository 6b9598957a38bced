// What stderr says in JSON mode: one line of JSON for each error and warning.
#pragma once

#include <string>
#include <string_view>

#include "reaper/daemon/exit_code.hpp"

namespace reaper::cli {

/// `{"error": {"message", "exit_code"}}`, with a newline.
std::string error_line(std::string_view message, ExitCode code);

/// `{"warning": {"message"}}`, with a newline.
std::string warning_line(std::string_view message);

/// Does a command line that is not understood ask for JSON?
bool asks_for_json(int argc, const char* const* argv);

}  // namespace reaper::cli

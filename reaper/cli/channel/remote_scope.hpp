// Which commands can ask a daemon elsewhere (--api), and what of them.
#pragma once

#include <optional>
#include <string>

#include "reaper/cli/arguments/arguments.hpp"

namespace reaper::cli {

/// Why the command, as it was given, can't be answered by the daemon that --api names; none if it
/// can, if it asks for nothing but a file or the program itself, or without --api.
std::optional<std::string> why_not_remote(const GlobalOptions& global, const Command& command);

}  // namespace reaper::cli

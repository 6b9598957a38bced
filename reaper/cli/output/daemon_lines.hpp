// What a daemon says before its configuration is loaded.
#pragma once

#include <functional>
#include <spdlog/common.h>
#include <string>

#include "reaper/cli/output/terminal.hpp"

namespace reaper::cli {

/// Lines about a configuration that may not be loaded yet: journald gets their priority, people the
/// program's name. The terminal must outlive it.
std::function<void(std::string)> daemon_lines(const Terminal& terminal,
                                              spdlog::level::level_enum level);

}  // namespace reaper::cli

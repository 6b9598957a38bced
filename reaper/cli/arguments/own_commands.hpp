// Commands about the program itself: `reaper help` and `reaper version`.
#pragma once

#include <string>
#include <vector>

#include "reaper/cli/arguments/arguments.hpp"

namespace CLI {
class App;
}

namespace reaper::cli {

/// The help of the command that the words name; of the program without any.
Leave help_for(const CLI::App& program, const std::vector<std::string>& words);

Leave version_text(bool json);

}  // namespace reaper::cli

// The man pages: reaper(1), and a page for each command.
#pragma once

#include <map>
#include <string>

#include "reaper/cli/arguments/command_table.hpp"

namespace reaper::cli {

/// The text of each page in man(7)'s macros, by the name of its file: `reaper.1`, `reaper-plan.1`.
/// Commands below a command are in its page. No date is in them: the same program writes the same.
std::map<std::string, std::string> man_pages(const CommandEntry& program,
                                             const std::string& version);

}  // namespace reaper::cli

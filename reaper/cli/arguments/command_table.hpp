// The commands and options as data, from which completions are written: what they tell is what
// `--help` tells.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace reaper::cli {

struct OptionEntry {
    std::vector<std::string> names;    ///< `-v`, `--verbose`; of an argument its one name: `ID`
    std::string value;                 ///< what it takes: `FILE`; empty: a flag
    std::vector<std::string> choices;  ///< the only values; empty: any
    std::string description;
    bool required = false;
    bool argument = false;  ///< stands without a name
};

struct CommandEntry {
    std::string name;
    std::string brief;  ///< one line; of the program empty
    std::vector<OptionEntry> options;
    std::vector<CommandEntry> commands;  ///< but hidden ones
};

/// Those of `reaper` itself.
CommandEntry own_command_table();

/// `brief` tells the line of a command.
CommandEntry command_table(CLI::App& app, const std::function<std::string(const CLI::App&)>& brief);

}  // namespace reaper::cli

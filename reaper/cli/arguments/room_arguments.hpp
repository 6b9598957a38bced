// What `reaper room` was asked for.
#pragma once

#include <string>
#include <vector>

#include "reaper/cli/arguments/arguments.hpp"
#include "reaper/model/error.hpp"

namespace CLI {
class App;
}

namespace reaper::cli {

/// The values of its options as they were written; empty: not given.
struct RoomTexts {
    std::string flavor, resources, project, zone, snapshot_file;
    std::vector<std::string> traits;
    int count = 1;
};

void add_room_options(CLI::App& command, RoomTexts& texts);

/// `bad_input` names the option.
Result<RoomCommand> room_command(const RoomTexts& texts);

}  // namespace reaper::cli

// The options of `setup`.
#pragma once

#include "reaper/cli/arguments/parsed.hpp"
#include "reaper/model/error.hpp"

namespace CLI {
class App;
}

namespace reaper::cli {

void add_setup(CLI::App& app, Parsed& parsed);
/// `app`: `setup`, with what is to be set up; `resource-tagging`. `bad_input` names the option.
Result<SetupCommand> finish_setup(const CLI::App& app, const Parsed& parsed);

}  // namespace reaper::cli

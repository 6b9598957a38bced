// What `reaper apply` was asked for, and what of `reaper plan` goes with it.
#pragma once

#include "reaper/cli/arguments/arguments.hpp"
#include "reaper/cli/arguments/help_text.hpp"
#include "reaper/model/error.hpp"

namespace CLI {
class App;
}

namespace reaper::cli {

namespace help {
extern const Text apply;
}  // namespace help

void add_apply_options(CLI::App& command, ApplyCommand& apply);
/// `plan --save`.
void add_save_option(CLI::App& plan, std::string& file);
/// `bad_input` for a plan that can't be approved: one that the daemon would not make by itself.
Result<void> check_save(const PlanCommand& plan, bool described);

}  // namespace reaper::cli

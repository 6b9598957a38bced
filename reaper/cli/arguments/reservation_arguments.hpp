// The options of `reserve`, `unreserve` and `reservations`.
#pragma once

#include "reaper/cli/arguments/parsed.hpp"
#include "reaper/model/error.hpp"

namespace CLI {
class App;
}

namespace reaper::cli {

void add_reservations(CLI::App& app, Parsed& parsed);
/// `app`: `reserve` or `unreserve`. `bad_input` names the option.
Result<ReserveCommand> finish_reserve(const CLI::App& app, const Parsed& parsed);

}  // namespace reaper::cli

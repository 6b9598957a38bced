// The options of `request`, `plan`, `room` and `candidates`: a request in words.
#pragma once

#include "reaper/cli/arguments/parsed.hpp"
#include "reaper/model/error.hpp"

namespace CLI {
class App;
}  // namespace CLI

namespace reaper::cli {

// The options of `reserve`, `unreserve` and `reservations`.

void add_reservations(CLI::App& app, Parsed& parsed);
/// `app`: `reserve` or `unreserve`. `bad_input` names the option.
Result<ReserveCommand> finish_reserve(const CLI::App& app, const Parsed& parsed);

void add_request(CLI::App& app, Parsed& parsed);
void add_plan(CLI::App& app, Parsed& parsed);
void add_room(CLI::App& app, Parsed& parsed);
void add_candidates(CLI::App& app, Parsed& parsed);
void add_snapshot_option(CLI::App& command, std::string& file);

/// `app`: the command that was chosen. `bad_input` names the option.
Result<RequestCommand> finish_request(const CLI::App& app, const Parsed& parsed);
Result<PlanCommand> finish_plan(const CLI::App& app, const Parsed& parsed);
Result<RoomCommand> finish_room(const Parsed& parsed);
Result<CandidatesCommand> finish_candidates(const Parsed& parsed);

}  // namespace reaper::cli

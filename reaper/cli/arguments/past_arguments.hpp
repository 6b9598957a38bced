// The options of the commands that look at the past: `history`, `usage`, `estimate`, `replay` and
// `report`.
#pragma once

#include "reaper/cli/arguments/parsed.hpp"
#include "reaper/model/error.hpp"

namespace CLI {
class App;
}

namespace reaper::cli {

void add_history(CLI::App& app, Parsed& parsed);
void add_usage(CLI::App& app, Parsed& parsed);
void add_risk(CLI::App& app, Parsed& parsed);
void add_estimate(CLI::App& app, Parsed& parsed);
/// And of `report`.
void add_replay(CLI::App& app, Parsed& parsed);

/// `span` stays where no other one is given; `30m` is one too. `bad_input` is also a period in
/// which nothing lies.
Result<void> read_past(const PeriodTexts& texts, std::optional<TimePoint>& since, Duration& span,
                       std::optional<TimePoint>& until);

/// `bad_input` if nothing lies between the time `span` before now and `until`.
Result<void> check_span(std::optional<Duration> span, std::optional<TimePoint> until,
                        TimePoint now);

/// `bad_input` names the option.
Result<UsageCommand> finish_usage(const Parsed& parsed);
Result<RiskCommand> finish_risk(const Parsed& parsed);
Result<EstimateCommand> finish_estimate(const Parsed& parsed);
Result<ReplayCommand> finish_replay(const Parsed& parsed);
Result<ReportCommand> finish_report(const Parsed& parsed);

}  // namespace reaper::cli

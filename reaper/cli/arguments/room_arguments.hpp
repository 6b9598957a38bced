// What `reaper room` was asked for.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reaper/cli/arguments/arguments.hpp"
#include "reaper/model/error.hpp"

namespace reaper::cli {

// What `reaper estimate` was asked for.

/// The values of its options as they were written; empty: not given.
struct EstimateTexts {
    std::string since;  ///< `24h`, `7d`, or a time
    std::string until;
    std::string step;
    std::vector<std::string> estimators;  ///< `NAME` or `NAME:param=value,...`
};

/// `--since` and `--until`; `span` stays where no other one is given.
struct PeriodTexts {
    std::string since, until;
};
Result<void> read_period(const PeriodTexts& texts, std::optional<TimePoint>& since, Duration& span,
                         std::optional<TimePoint>& until);

/// `bad_input` if nothing lies between the time `span` before now and `until`.
Result<void> check_span(std::optional<Duration> span, std::optional<TimePoint> until,
                        TimePoint now);

/// `bad_input` names the option.
Result<EstimateCommand> estimate_command(const EstimateTexts& texts);

}  // namespace reaper::cli

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

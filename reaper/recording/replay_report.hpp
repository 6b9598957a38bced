// What a replay shows: text, JSON, and a table to plot.
#pragma once

#include <chrono>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "reaper/recording/replay.hpp"
#include "reaper/report/render.hpp"
#include "reaper/report/table.hpp"

namespace reaper::recording {

// A replay in figures: by day and in all, as it was recorded and as it would be.

/// Of one side.
struct ReplaySums {
    int requests = 0;  ///< that could be decided
    int helped = 0;    ///< all slots are there, or would be
    int culls = 0;     ///< of these, by deleting servers
    int refused = 0;   ///< revocable requesters, and what no room can help
    int victims = 0;
    double lost_hours = 0;
    double lost_vcpu_hours = 0;
    std::map<std::string, int> safeguards;  ///< not helped, by what prevented it

    int not_helped() const { return requests - helped - refused; }
    void add(const Choice& choice);
};

struct BothSums {
    ReplaySums recorded, asked;
    void add(const ReplayedRequest& request);
};

using ByDay = std::map<std::chrono::sys_days, BothSums>;  ///< UTC
ByDay by_day(const Replay& replay);
BothSums in_all(const Replay& replay);

/// What the two sides are called: `strategy cost, alternatives 1`.
struct ReplayTitles {
    std::string directory;
    std::string recorded, asked;
};

/// A table of differences by day and in all, then the requests that differ.
std::string render_replay(const Replay& replay, const ReplayTitles& titles,
                          const report::RenderOptions& options);

/// {version, recording, dry_run, anonymous, from, to (or null), recorded{configuration, SUMS},
///  asked{configuration, SUMS}, days[{day, recorded{SUMS}, asked{SUMS}}], requests[{id, at,
///  project, project_name (if known), slots, surely, differs, recorded (or null), asked (or null):
///  {decision, victims[{server, name, project, project_name (if known), host}], lost_hours,
///  safeguard (or null)}, outcome (or null), freed_room (or null), deleted}], reproduced{plans, of,
///  not[]}, corrections, undecided, remarks[]}
/// SUMS: {requests, helped, not_helped, refused, culls, victims, lost_hours, lost_vcpu_hours,
/// safeguards{word: n}}
nlohmann::json to_json(const Replay& replay, const ReplayTitles& titles);

/// A row for each request, in their order: victims and lost server-hours of both sides, summed up
/// until then.
report::Table replay_table(const Replay& replay);

}  // namespace reaper::recording

// What switching on would have meant: the report at the end of a week of observing.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "config/settings.hpp"
#include "reaper/model/request.hpp"
#include "reaper/model/time.hpp"
#include "reaper/recording/replay.hpp"
#include "reaper/report/render.hpp"
#include "reaper/safeguards/settings.hpp"

namespace reaper::recording {

// What limits would have stopped of a week of plans: of a dry run nothing is deleted, so that
// nothing counts against them.

/// A request for which servers would have gone.
struct PlannedHarm {
    const Request* request = nullptr;
    TimePoint at{};
    int victims = 0;
};

struct StoppedByLimits {
    std::map<std::string, int> requests;  ///< by safeguard
    int victims = 0;                      ///< of these
    int largest = 0;                      ///< victims of one request, stopped or not
    int revocable = 0;                    ///< servers by which shares are counted
};

/// `planned` by time; `revocable`: servers of which shares are, as far as plans show, so that more
/// may be stopped here than would have been.
StoppedByLimits stopped_by(const LimitSettings& limits, const std::vector<PlannedHarm>& planned,
                           int revocable);

/// One request of the time.
struct WeekRequest {
    Request request;
    TimePoint at{};
    std::optional<Choice> choice;  ///< what would be done for it; none: it is not known
    std::optional<Outcome> outcome;
    int deleted = 0;  ///< servers whose deletion was sent
};

struct WeekInput {
    std::string source;  ///< `recording DIR` or `journal FILE`
    TimePoint since{}, until{};
    std::optional<TimePoint> begins;  ///< what it is made from; none: with `since`
    bool recorded = false;            ///< else the journal reported it
    bool dry_run = false;
    std::vector<WeekRequest> requests;
    std::optional<config::Policy> policy;
    LimitSettings limits{};           ///< those in force
    int checked = 0, reproduced = 0;  ///< recorded plans, and those that were made again
    int unsure = 0;                   ///< not seen whole, or with reservations
    int undecided = 0;
    std::vector<std::string> remarks;

    /// From the journal of a daemon that deletes; else it is what would have happened.
    bool happened() const { return !recorded && !dry_run; }
};

struct WeekProject {
    std::string name;  ///< as Keystone called it; empty: not known
    int victims = 0;
    double lost_hours = 0;
};

struct WeekReport {
    WeekInput input;
    std::map<std::string, int> operations;  ///< refusals of Nova, by what their users asked for
    int refused_by_nova = 0;                ///< these
    int asked = 0;                          ///< requests of operators
    int own = 0;                            ///< what a reservation takes back
    int there = 0;                          ///< the room was there
    int helped = 0;                         ///< by deleting servers
    int no_room = 0;                        ///< all revocable servers together are not enough
    int refused = 0;                        ///< the requester is revocable, ...
    int unknown = 0;                        ///< the cloud was not read for them
    std::map<std::string, int> held_back;   ///< by safeguard
    int victims = 0;
    double lost_hours = 0, lost_vcpu_hours = 0;
    int young = 0;  ///< victims that had existed less than an hour
    std::map<ProjectId, WeekProject> projects;
    StoppedByLimits stopped;              ///< of those that would have been helped by deleting
    std::map<std::string, int> outcomes;  ///< as it happened
    int deleted = 0;
    std::vector<std::string> against;  ///< what stands against switching on
};

WeekInput week_of(const Replay& replay);
/// The last plan of each record counts.
WeekInput week_of(const std::vector<RequestRecord>& records);

/// `input.requests` of other times are left out.
WeekReport report_week(WeekInput input);

std::string render_week(const WeekReport& week, const report::RenderOptions& options);
/// {version, source, since, until, dry_run, requests, refused_by_nova, asked_by_operators,
/// of_reservations, operations{word: n}, would_help{already_there,
///  by_deleting}, would_not_help{no_room, held_back{safeguard: n}, refused, unknown}, victims,
///  lost_hours, lost_vcpu_hours, young, stopped_by_limits{requests{safeguard: n}, victims,
///  largest_request, revocable}, projects[{project, project_name (if known), victims,
///  lost_hours}], happened{outcomes {word: n}, deleted}, against[], remarks[]}
nlohmann::json to_json(const WeekReport& week);

}  // namespace reaper::recording

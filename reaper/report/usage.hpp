// Resource-hours as a list, and as JSON for a program.
//
//  usage {version, from, to, usage: [{project, project_name (where it is known), type: "regular" or
//         "revocable", servers, reclaimed, hours, resource_hours{class: hours}}],
//         oversubscribed{class: {published, used, free, wanted (or null), hosts}}, as it is
//         now; remarks: what was counted otherwise, and why; left out if nothing was}
#pragma once

#include <cstddef>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "reaper/model/ids.hpp"
#include "reaper/model/project_names.hpp"
#include "reaper/model/resources.hpp"
#include "reaper/model/time.hpp"
#include "reaper/planner/oversubscribed_room.hpp"
#include "reaper/report/table.hpp"

namespace reaper {

// Regular and revocable resource-hours of each project, for billing and chargeback.
//
// Pure: which server ran when, holding what, comes from outside (the cloud's servers, the ended
// ones, the journal); this sums it up. A server counts from its launch to its end without the times
// on the shelf, with what it holds now or held last: an earlier flavor of a resized server is no
// longer known.

/// One server's time on a host.
struct ServerRun {
    ServerId server;
    ProjectId project;
    Resources holds;
    TimePoint from{};
    std::optional<TimePoint> until;  ///< none: it still runs
    bool revocable = false;
    bool reclaimed = false;  ///< the reaper ended it
    std::string flavor{};    ///< its name
    std::string host{};      ///< Nova's service host; empty: not known
    TimePoint created{};     ///< when the server was made; it may have run since then, or not
};

/// What one project used as one type.
struct UsageLine {
    ProjectId project;
    bool revocable = false;
    int servers = 0;    ///< one that came back counts again
    int reclaimed = 0;  ///< of these, ended by the reaper within the time
    double hours = 0;   ///< of servers
    std::map<ResourceClass, double> resource_hours;
    std::string project_name{};  ///< empty: not known

    friend bool operator==(const UsageLine&, const UsageLine&) = default;
};

/// By project, regular before revocable; runs outside of `from` to `to` count nothing. Of several
/// reports of one run the first is taken, marked as reclaimed if any of them is, until that end if
/// it is earlier. Runs of a server that overlap are one (of several, the last); a server that was
/// shelved and came back has one for each time.
std::vector<UsageLine> usage_of(const std::vector<ServerRun>& runs, TimePoint from, TimePoint to);

/// The same in steps, for a caller that does something else between them: first all runs, then the
/// sum.
class UsageSum {
public:
    UsageSum(TimePoint from, TimePoint to) : from_(from), to_(to) {}

    void add(ServerRun run);
    /// Of the next so many servers; false when all are summed.
    bool sum(std::size_t servers);
    std::vector<UsageLine> lines() const;
    const std::vector<ServerRun>& runs() const { return each_; }

private:
    TimePoint from_, to_;
    std::vector<ServerRun> each_;
    std::multimap<ServerId, std::size_t> known_;
    std::size_t summed_ = 0;
    std::map<std::pair<ProjectId, bool>, UsageLine> lines_;
};

/// What Keystone calls their projects; empty where it is not known.
void add_names(const ProjectNames& names, std::vector<UsageLine>& lines);

struct UsagePeriod {
    TimePoint from{}, to{};
};
/// What is asked for: to `to` (none, or later than now: now), from `from`, else from `span` before
/// now, else from the first of the month in which `to` lies. `from` may be later than `to`.
UsagePeriod usage_period(std::optional<TimePoint> from, std::optional<Duration> span,
                         std::optional<TimePoint> to, TimePoint now);

}  // namespace reaper

namespace reaper::report {

struct UsageReport {
    TimePoint from{}, to{};
    std::vector<UsageLine> lines;
    OversubscribedRooms oversubscribed{};  ///< now
    std::vector<std::string> remarks{};
};

nlohmann::json to_json(const UsageReport& usage);
/// What that wrote; `bad_answer` names what is wrong.
Result<UsageReport> usage_from_json(const nlohmann::json& document);
/// A row for each project and type; a column for each resource class that any of them has;
/// below it the oversubscribed room.
Table usage_table(const UsageReport& usage);

}  // namespace reaper::report

// Resource-hours as a list, and as JSON for a program.
//
//  usage {version, from, to, usage: [{project, project_name (where it is known), type: "regular" or
//         "revocable", servers, reclaimed, hours, resource_hours{class: hours}}],
//         oversubscribed{class: {published, used, free, wanted (or null), hosts}}, as it is
//         now}
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "reaper/planner/oversubscribed_room.hpp"
#include "reaper/report/table.hpp"
#include "reaper/report/usage_totals.hpp"

namespace reaper::report {

struct UsageReport {
    TimePoint from{}, to{};
    std::vector<UsageLine> lines;
    OversubscribedRooms oversubscribed{};  ///< now
};

nlohmann::json to_json(const UsageReport& usage);
/// What that wrote; `bad_answer` names what is wrong.
Result<UsageReport> usage_from_json(const nlohmann::json& document);
/// A row for each project and type; a column for each resource class that any of them has;
/// below it the oversubscribed room.
Table usage_table(const UsageReport& usage);

}  // namespace reaper::report

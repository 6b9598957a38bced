// Resource-hours as a table for people, as CSV for a spreadsheet and as JSON for a program.
//
//  usage {version, from, to, usage: [{project, type: "regular" or "revocable", servers, reclaimed,
//         hours, resource_hours{class: hours}}]}
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "reaper/report/render.hpp"
#include "reaper/report/usage_totals.hpp"

namespace reaper::report {

struct UsageReport {
    TimePoint from{}, to{};
    std::vector<UsageLine> lines;
};

nlohmann::json to_json(const UsageReport& usage);
/// A head line, then one for each project and type; a column for each resource class that any of
/// them has. Hours have three decimals. Lines end with CR LF, as RFC 4180 has it.
std::string usage_csv(const UsageReport& usage);
std::string render_usage(const UsageReport& usage, const RenderOptions& options = {});

}  // namespace reaper::report

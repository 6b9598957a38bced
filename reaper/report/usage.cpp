#include "reaper/report/usage.hpp"

#include <utility>

#include "reaper/model/time_text.hpp"
#include "reaper/report/hosts_tables.hpp"
#include "reaper/report/json.hpp"
#include "reaper/report/json_values.hpp"
#include "reaper/report/render_parts.hpp"

namespace reaper::report {
namespace {

const char* type_of(const UsageLine& line) {
    return line.revocable ? "revocable" : "regular";
}

std::vector<ResourceClass> classes_used(const UsageReport& usage) {
    std::vector<Resources> held;
    for (const auto& line : usage.lines)
        for (const auto& [resource_class, hours] : line.resource_hours) {
            held.emplace_back();
            held.back().add(resource_class, 1);
        }
    return classes_of(held);
}

double hours_of(const UsageLine& line, const ResourceClass& resource_class) {
    const auto at = line.resource_hours.find(resource_class);
    return at == line.resource_hours.end() ? 0 : at->second;
}

UsageLine usage_line_in(const JsonPlace& in) {
    UsageLine line;
    line.project = ProjectId{in["project"].text()};
    line.project_name = in.text_or_empty("project_name");
    const JsonPlace type = in["type"];
    line.revocable = type.text() == "revocable";
    type.expect(line.revocable || type.text() == "regular", "regular or revocable");
    line.servers = in["servers"].count();
    line.reclaimed = in["reclaimed"].count();
    line.hours = in["hours"].number();
    const JsonPlace hours = in["resource_hours"];
    hours.each_member([&](const std::string& name, const JsonPlace& value) {
        line.resource_hours[ResourceClass{name}] = value.number();
    });
    return line;
}

OversubscribedRoom oversubscribed_in(const JsonPlace& in) {
    OversubscribedRoom room;
    room.published = in["published"].integer();
    room.used = in["used"].integer();
    room.free = in["free"].integer();
    room.hosts = static_cast<std::size_t>(in["hosts"].count());
    if (const auto wanted = in.maybe("wanted")) room.wanted = wanted->integer();
    return room;
}

}  // namespace

nlohmann::json to_json(const UsageReport& usage) {
    nlohmann::json lines = nlohmann::json::array();
    for (const auto& line : usage.lines) {
        nlohmann::json hours = nlohmann::json::object();
        for (const auto& [resource_class, value] : line.resource_hours)
            hours[resource_class.str()] = value;
        lines.push_back({{"project", line.project.str()},
                         {"type", type_of(line)},
                         {"servers", line.servers},
                         {"reclaimed", line.reclaimed},
                         {"hours", line.hours},
                         {"resource_hours", std::move(hours)}});
        if (!line.project_name.empty()) lines.back()["project_name"] = line.project_name;
    }
    return {{"version", json_version},
            {"from", iso_time(usage.from)},
            {"to", iso_time(usage.to)},
            {"usage", std::move(lines)},
            {"oversubscribed", to_json(usage.oversubscribed)}};
}

Result<UsageReport> usage_from_json(const nlohmann::json& document) {
    return read_json(document, "usage", [](const JsonPlace& in) {
        UsageReport usage;
        usage.from = in["from"].time();
        usage.to = in["to"].time();
        usage.lines = list(in["usage"], usage_line_in);
        in["oversubscribed"].each_member([&](const std::string& name, const JsonPlace& room) {
            usage.oversubscribed[ResourceClass{name}] = oversubscribed_in(room);
        });
        return usage;
    });
}

Table usage_table(const UsageReport& usage) {
    Table table;
    table.columns = {column("project"), column("type"), number("servers"), number("reclaimed"),
                     number("hours")};
    const auto classes = classes_used(usage);
    for (const auto& resource_class : classes)
        table.columns.push_back(number(resource_class.str() + "_hours"));
    table.columns.push_back(wide("project_id"));
    table.key = table.columns.size() - 1;
    for (const auto& line : usage.lines) {
        std::vector<Cell> cells{project_cell(line.project, line.project_name),
                                std::string{type_of(line)}, std::int64_t{line.servers},
                                std::int64_t{line.reclaimed}, Decimal{line.hours}};
        for (const auto& resource_class : classes)
            cells.emplace_back(Decimal{hours_of(line, resource_class)});
        cells.push_back(text_cell(line.project.str()));
        table.rows.push_back(std::move(cells));
    }
    table.title = "From " + iso_time(usage.from) + " to " + iso_time(usage.to);
    table.none = "Nothing ran.";
    for (const auto& words : oversubscribed_words(usage.oversubscribed))
        table.summary += (table.summary.empty() ? "Oversubscribed now: " : "; ") + words;
    return table;
}

}  // namespace reaper::report

#include "reaper/report/usage.hpp"

#include <utility>

#include "reaper/json/fields.hpp"
#include "reaper/model/time_text.hpp"
#include "reaper/report/hosts_tables.hpp"
#include "reaper/report/json.hpp"
#include "reaper/report/json_values.hpp"
#include "reaper/report/render_parts.hpp"

namespace reaper::report {
namespace {

const char* type_of(bool revocable) {
    return revocable ? "revocable" : "regular";
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

/// Of a line: revocable, or regular.
constexpr JsonCoder<bool> type_coder{
    [](const bool& revocable) { return nlohmann::json(type_of(revocable)); },
    [](const JsonPlace& type) {
        const bool revocable = type.text() == "revocable";
        type.expect(revocable || type.text() == "regular", "regular or revocable");
        return revocable;
    }};

constexpr auto usage_line_fields = fields_of<UsageLine>([](auto& io, auto& line) {
    io.required("project", line.project);
    io.optional("project_name", line.project_name);
    io.required("type", line.revocable, type_coder);
    io.required("servers", line.servers);
    io.required("reclaimed", line.reclaimed);
    io.required("hours", line.hours);
    io.required("resource_hours", line.resource_hours);
});

constexpr auto oversubscribed_fields = fields_of<OversubscribedRoom>([](auto& io, auto& room) {
    io.required("published", room.published);
    io.required("used", room.used);
    io.required("free", room.free);
    io.required("hosts", room.hosts);
    io.lenient("wanted", room.wanted);
});

constexpr auto usage_fields = fields_of<UsageReport>([](auto& io, auto& usage) {
    io.constant("version", json_version);
    io.required("from", usage.from);
    io.required("to", usage.to);
    io.required("usage", usage.lines, usage_line_fields);
    io.required("oversubscribed", usage.oversubscribed, oversubscribed_fields);
});

}  // namespace

nlohmann::json to_json(const UsageReport& usage) {
    return usage_fields.write(usage);
}

Result<UsageReport> usage_from_json(const nlohmann::json& document) {
    return read_as(document, "usage", usage_fields);
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
                                std::string{type_of(line.revocable)}, std::int64_t{line.servers},
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

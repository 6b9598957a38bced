#include "reaper/report/usage.hpp"

#include <array>
#include <cstdio>
#include <utility>

#include "reaper/model/time_text.hpp"
#include "reaper/report/json.hpp"
#include "reaper/report/render_parts.hpp"
#include "reaper/report/text.hpp"

namespace reaper::report {
namespace {

const char* type_of(const UsageLine& line) {
    return line.revocable ? "revocable" : "regular";
}

std::string decimals(double value, int digits) {
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), "%.*f", digits, value);
    return text.data();
}

std::vector<ResourceClass> classes_in(const UsageReport& usage) {
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

/// A field of CSV: quoted where it must be. A leading sign that a spreadsheet would take for a
/// formula gets an apostrophe.
std::string field(const std::string& text) {
    std::string plain = safe(text);
    if (!plain.empty() && std::string{"=+-@"}.find(plain.front()) != std::string::npos)
        plain.insert(plain.begin(), '\'');
    if (plain.find_first_of(",\"\r\n") == std::string::npos) return plain;
    std::string quoted = "\"";
    for (const char c : plain) quoted += c == '"' ? std::string{"\"\""} : std::string{c};
    return quoted + "\"";
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
    }
    return {{"version", json_version},
            {"from", iso_time(usage.from)},
            {"to", iso_time(usage.to)},
            {"usage", std::move(lines)}};
}

std::string usage_csv(const UsageReport& usage) {
    const auto classes = classes_in(usage);
    std::string text = "project,type,servers,reclaimed,hours";
    for (const auto& resource_class : classes) text += "," + field(resource_class.str() + "_hours");
    text += "\r\n";
    for (const auto& line : usage.lines) {
        text += field(line.project.str()) + "," + type_of(line) + "," +
                std::to_string(line.servers) + "," + std::to_string(line.reclaimed) + "," +
                decimals(line.hours, 3);
        for (const auto& resource_class : classes)
            text += "," + decimals(hours_of(line, resource_class), 3);
        text += "\r\n";
    }
    return text;
}

std::string render_usage(const UsageReport& usage, const RenderOptions& options) {
    const std::string span = format_time(usage.from) + " to " + format_time(usage.to) + " (UTC)\n";
    if (usage.lines.empty()) return "Nothing ran from " + span;
    constexpr auto right = TextTable::Align::right;
    const auto classes = classes_in(usage);
    std::vector<TextTable::Column> head{
        {"PROJECT"}, {"TYPE"}, {"SERVERS", right}, {"RECLAIMED", right}, {"HOURS", right}};
    for (const auto& resource_class : classes) head.push_back({resource_class.str() + " h", right});
    TextTable table{std::move(head)};
    for (const auto& line : usage.lines) {
        std::vector<std::string> cells{line.project.str(), type_of(line),
                                       std::to_string(line.servers), std::to_string(line.reclaimed),
                                       decimals(line.hours, 1)};
        for (const auto& resource_class : classes)
            cells.push_back(decimals(hours_of(line, resource_class), 1));
        table.row(std::move(cells));
    }
    return "From " + span + table.text(0, width_of(options), Paint{options.color});
}

}  // namespace reaper::report

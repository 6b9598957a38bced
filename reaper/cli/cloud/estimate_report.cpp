#include "reaper/cli/cloud/estimate_report.hpp"

#include <array>
#include <cstdio>

#include "reaper/model/text.hpp"
#include "reaper/model/time_text.hpp"
#include "reaper/report/json.hpp"
#include "reaper/report/render_parts.hpp"
#include "reaper/report/text.hpp"

namespace reaper::cli {
namespace {

constexpr std::size_t names_shown = 20;

std::string rounded(double value) {
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), "%.1f", value);
    return text.data();
}

std::string name_of(const EstimateLine& line) {
    std::string text = line.result.estimator;
    for (const auto& [name, value] : line.parameters) {
        if (const auto* number = std::get_if<std::int64_t>(&value))
            text += " " + name + "=" + std::to_string(*number);
        else if (const auto* word = std::get_if<std::string>(&value))
            text += " " + name + "=" + *word;
        else
            for (const auto& item : std::get<std::vector<std::string>>(value))
                text += " " + name + "=" + item;
    }
    return text;
}

nlohmann::json json_of(const EstimateLine& line) {
    nlohmann::json parameters = nlohmann::json::object();
    for (const auto& [name, value] : line.parameters)
        parameters[name] = std::visit([](const auto& held) { return nlohmann::json(held); }, value);
    const BacktestResult& result = line.result;
    return {{"estimator", result.estimator},
            {"parameters", std::move(parameters)},
            {"host_hours", result.hours},
            {"offered_vcpu_hours", result.offered_hours},
            {"sold_vcpu_hours", result.sold_hours},
            {"evictions", result.evictions},
            {"evicted_vcpus", result.evicted_vcpus},
            {"short_minutes", result.short_minutes},
            {"short_core_minutes", result.short_core_minutes},
            {"changes", result.changes},
            {"left_alone", result.left_alone}};
}

report::TextTable table_of(const EstimateReport& report) {
    using Align = report::TextTable::Align;
    report::TextTable table{{{"ESTIMATOR"},
                             {"SOLD", Align::right},
                             {"EVICTIONS", Align::right},
                             {"VCPUS", Align::right},
                             {"SHORT", Align::right},
                             {"LEFT ALONE", Align::right},
                             {"CHANGES", Align::right}}};
    for (const auto& line : report.lines) {
        const BacktestResult& result = line.result;
        table.row({name_of(line), rounded(result.sold_hours), std::to_string(result.evictions),
                   std::to_string(result.evicted_vcpus), rounded(result.short_minutes),
                   std::to_string(result.left_alone), std::to_string(result.changes)});
    }
    return table;
}

std::string head_of(const EstimateReport& report) {
    const double hours = report.lines.empty() ? 0 : report.lines.front().result.hours;
    return iso_time(report.span.from) + " to " + iso_time(report.span.until) +
           ", a reading every " + exact_duration(report.span.step) + ": " + rounded(hours) +
           " host-hours of " + reaper::counted(report.history.hosts.size(), "host") + "; " +
           (report.per_server ? "each server by itself" : "the use of each host as a whole");
}

std::string missing_of(const EstimateReport& report) {
    std::string text;
    std::size_t shown = 0;
    for (const auto& [host, why] : report.history.without)
        if (shown++ < names_shown) text += (text.empty() ? "" : "; ") + host + " (" + why + ")";
    if (shown > names_shown) text += " and " + std::to_string(shown - names_shown) + " more";
    return reaper::counted(report.history.without.size(), "host") + " without history: " + text;
}

std::string strangers_of(const EstimateReport& report) {
    std::string text;
    std::size_t shown = 0;
    for (const auto& label : report.history.strangers)
        if (shown++ < names_shown) text += (text.empty() ? "" : ", ") + in_quotes(label);
    if (shown > names_shown) text += " and " + std::to_string(shown - names_shown) + " more";
    return "Measured, but none of the hosts: " + text;
}

constexpr const char* legend =
    "SOLD: vCPU-hours, if everything that is published is taken at once and used fully. EVICTIONS, "
    "VCPUS: how often some had to go, host by host, and how many. SHORT: host-minutes in which "
    "more cores were wanted than there are. LEFT ALONE: times that a host went up and down too "
    "often. What is allocated to regular servers is taken as it is now; the oracle knows the hour "
    "to come.";

}  // namespace

nlohmann::json to_json(const EstimateReport& report) {
    nlohmann::json lines = nlohmann::json::array();
    for (const auto& line : report.lines) lines.push_back(json_of(line));
    return {{"version", report::json_version},
            {"from", iso_time(report.span.from)},
            {"until", iso_time(report.span.until)},
            {"step_ms", report.span.step.count()},
            {"per_server", report.per_server},
            {"excess", report.excess},
            {"hosts", report.history.hosts.size()},
            {"without_history", report.history.without},
            {"unknown_labels", report.history.strangers},
            {"estimates", std::move(lines)}};
}

std::string render_estimate(const EstimateReport& report, const report::RenderOptions& options) {
    const report::Paint paint{options.color};
    const std::size_t width = report::width_of(options);
    std::string text = report::wrapped(report::safe(head_of(report)), 0, width);
    if (!report.history.without.empty())
        text += report::wrapped(report::safe(missing_of(report)), 0, width);
    if (!report.history.strangers.empty())
        text += report::wrapped(report::safe(strangers_of(report)), 0, width);
    return text + "\n" + table_of(report).text(0, width, paint) + "\n" +
           report::wrapped(legend, 0, width);
}

}  // namespace reaper::cli

// The report of a week as text and JSON.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "reaper/model/project_names.hpp"
#include "reaper/model/text.hpp"
#include "reaper/model/time_text.hpp"
#include "reaper/recording/week.hpp"
#include "reaper/report/json.hpp"
#include "reaper/report/text.hpp"

namespace reaper::recording {
namespace {

using nlohmann::json;

std::string tenths(double value) {
    char text[64];
    std::snprintf(text, sizeof text, "%.1f", value);
    return text;
}

double to_hundredths(double value) {
    return std::round(100 * value) / 100;
}

/// `3 build, 1 resize`.
std::string words(const std::map<std::string, int>& counts) {
    std::string text;
    for (const auto& [word, count] : counts)
        text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + report::safe(word);
    return text;
}

int held_back(const WeekReport& week) {
    int all = 0;
    for (const auto& [word, count] : week.held_back) all += count;
    return all;
}

std::string lines_text(const WeekReport& week, const report::RenderOptions& options) {
    using Align = report::TextTable::Align;
    report::TextTable table({{"", Align::right}, {"requests"}});
    const auto row = [&](int count, const std::string& what) {
        if (count > 0) table.row({std::to_string(count), what});
    };
    const int others = week.asked + week.own;
    if (week.refused_by_nova > 0 || others == 0)
        table.row({std::to_string(week.refused_by_nova),
                   "refused by Nova" +
                       (week.operations.empty() ? "" : " (" + words(week.operations) + ")")});
    row(week.asked, "asked for by an operator");
    row(week.own, "of a reservation that takes back what it lent");
    if (others > 0) table.row({std::to_string(week.input.requests.size()), "in all:"});
    row(week.helped, std::string{week.input.happened() ? "" : "would have been "} +
                         "helped by deleting servers");
    row(week.there, "had their room by then, without a deletion");
    row(held_back(week), "held back by safeguards: " + words(week.held_back));
    row(week.no_room, "not helped: all revocable servers together are not enough");
    row(week.refused, "not helped: the requester is revocable itself, or no room can help");
    row(week.unknown, "not known: the cloud was not read for them");
    return table.text(0, static_cast<std::size_t>(options.width), report::Paint{options.color});
}

/// Most victims first.
std::vector<std::pair<ProjectId, WeekProject>> by_victims(const WeekReport& week) {
    std::vector<std::pair<ProjectId, WeekProject>> all(week.projects.begin(), week.projects.end());
    std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
        return a.second.victims > b.second.victims;
    });
    return all;
}

/// The daemon that recorded them planned each request by the cloud as it was.
std::string why_others(const WeekReport& week, const report::RenderOptions& options) {
    if (!week.input.recorded || !week.input.dry_run) return "";
    return report::wrapped(
        "Here no server goes twice, and who went counts against the limits; the plans of a dry "
        "run, as 'reaper history victims' tells them, may name some twice.",
        0, static_cast<std::size_t>(options.width));
}

std::string projects_text(const WeekReport& week, const report::RenderOptions& options) {
    const bool happened = week.input.happened();
    if (week.victims == 0)
        return happened ? "No server was chosen.\n" : "No server would have been deleted.\n";
    using Align = report::TextTable::Align;
    report::TextTable table(
        {{"project"}, {"victims", Align::right}, {"lost server-hours", Align::right}});
    for (const auto& [project, sum] : by_victims(week))
        table.row(
            {project_text(project, sum.name), std::to_string(sum.victims), tenths(sum.lost_hours)});
    return counted(week.victims, "server") +
           (happened ? " chosen, after " : " would have been deleted, after ") +
           tenths(week.lost_hours) + " server-hours (" + tenths(week.lost_vcpu_hours) +
           " vCPU-hours) in all:\n" +
           table.text(2, static_cast<std::size_t>(options.width), report::Paint{options.color}) +
           why_others(week, options);
}

/// What of that the limits would have stopped.
std::string stopped_text(const WeekReport& week, const report::RenderOptions& options) {
    if (week.victims == 0) return "";
    const StoppedByLimits& stopped = week.stopped;
    std::string text = stopped.requests.empty()
                           ? "The limits in force would have stopped none of these (the largest: " +
                                 counted(stopped.largest, "victim") + ")."
                           : "The limits in force would have stopped: " + words(stopped.requests) +
                                 ", with " + counted(stopped.victims, "victim") +
                                 " (the largest: " + std::to_string(stopped.largest) + ").";
    text += " Shares are of the " + counted(stopped.revocable, "revocable server") +
            " on the hosts of these plans.";
    return report::wrapped(text, 0, static_cast<std::size_t>(options.width));
}

}  // namespace

std::string render_week(const WeekReport& week, const report::RenderOptions& options) {
    const WeekInput& input = week.input;
    const auto width = static_cast<std::size_t>(options.width);
    std::string text =
        (input.happened() ? "What happened, " : "What switching on would have meant, ") +
        iso_time(input.since) + " to " + iso_time(input.until) + "\nby " +
        report::safe(input.source) + (input.dry_run ? ", dry run" : "") + "\n\n";
    text += lines_text(week, options) + "\n" + projects_text(week, options) +
            stopped_text(week, options);
    if (!input.dry_run && !week.outcomes.empty())
        text += "\nAs it happened: " + words(week.outcomes) + "; " +
                counted(week.deleted, "server") + " deleted.\n";
    const std::string subject =
        input.happened() ? "calls for a change" : "stands against switching on";
    text +=
        week.against.empty() ? "\nNo known fact " + subject + ".\n" : "\nWhat " + subject + ":\n";
    for (const std::string& doubt : week.against)
        text += report::wrapped("- " + report::safe(doubt), 2, width);
    for (const std::string& remark : input.remarks)
        text += "Remark: " + report::safe(remark) + ".\n";
    return text;
}

json to_json(const WeekReport& week) {
    const WeekInput& input = week.input;
    json projects = json::array();
    for (const auto& [project, sum] : by_victims(week)) {
        projects.push_back({{"project", project.str()},
                            {"victims", sum.victims},
                            {"lost_hours", to_hundredths(sum.lost_hours)}});
        if (!sum.name.empty()) projects.back()["project_name"] = sum.name;
    }
    return {{"version", report::json_version},
            {"source", input.source},
            {"since", iso_time(input.since)},
            {"until", iso_time(input.until)},
            {"dry_run", input.dry_run},
            {"requests", input.requests.size()},
            {"refused_by_nova", week.refused_by_nova},
            {"asked_by_operators", week.asked},
            {"of_reservations", week.own},
            {"operations", week.operations},
            {"would_help", {{"already_there", week.there}, {"by_deleting", week.helped}}},
            {"would_not_help",
             {{"no_room", week.no_room},
              {"held_back", week.held_back},
              {"refused", week.refused},
              {"unknown", week.unknown}}},
            {"victims", week.victims},
            {"lost_hours", to_hundredths(week.lost_hours)},
            {"lost_vcpu_hours", to_hundredths(week.lost_vcpu_hours)},
            {"young", week.young},
            {"stopped_by_limits",
             {{"requests", week.stopped.requests},
              {"victims", week.stopped.victims},
              {"largest_request", week.stopped.largest},
              {"revocable", week.stopped.revocable}}},
            {"projects", std::move(projects)},
            {"happened", {{"outcomes", week.outcomes}, {"deleted", week.deleted}}},
            {"against", week.against},
            {"remarks", input.remarks}};
}

}  // namespace reaper::recording

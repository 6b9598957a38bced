#include "reaper/report/usage_totals.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace reaper {
namespace {

/// One run for each server: who tells of it first is believed, and whoever saw it reclaimed.
std::vector<ServerRun> one_each(const std::vector<ServerRun>& runs) {
    std::vector<ServerRun> each;
    std::map<ServerId, std::size_t> known;
    for (const ServerRun& run : runs) {
        const auto [at, is_new] = known.emplace(run.server, each.size());
        if (is_new) {
            each.push_back(run);
            continue;
        }
        ServerRun& first = each[at->second];
        if (!run.reclaimed) continue;
        first.reclaimed = true;
        // Only what is revocable is ever reclaimed; its flavor or project may have changed since.
        first.revocable = true;
        if (!first.until) first.until = run.until;
    }
    return each;
}

TimePoint first_of_month(TimePoint time) {
    const std::chrono::year_month_day day{std::chrono::floor<std::chrono::days>(time)};
    return TimePoint{std::chrono::sys_days{day.year() / day.month() / 1}};
}

}  // namespace

std::vector<UsageLine> usage_of(const std::vector<ServerRun>& runs, TimePoint from, TimePoint to) {
    std::map<std::pair<ProjectId, bool>, UsageLine> lines;
    for (const ServerRun& run : one_each(runs)) {
        const TimePoint begin = std::max(run.from, from);
        const TimePoint end = std::min(run.until.value_or(to), to);
        // One that ended in the second of its launch is a server too, of no hours.
        const bool over_before = run.until && *run.until <= from && run.from < from;
        if (over_before || run.from >= to || end < begin) continue;
        UsageLine& line = lines[{run.project, run.revocable}];
        line.project = run.project;
        line.revocable = run.revocable;
        ++line.servers;
        line.reclaimed += run.reclaimed && run.until && *run.until <= to;
        const double hours = std::chrono::duration<double, std::ratio<3600>>(end - begin).count();
        line.hours += hours;
        for (const auto& [resource_class, amount] : run.holds)
            line.resource_hours[resource_class] += hours * static_cast<double>(amount);
    }
    std::vector<UsageLine> all;
    for (auto& [key, line] : lines) all.push_back(std::move(line));
    return all;
}

void add_names(const ProjectNames& names, std::vector<UsageLine>& lines) {
    for (UsageLine& line : lines) line.project_name = name_of_project(names, line.project);
}

UsagePeriod usage_period(std::optional<TimePoint> from, std::optional<Duration> span,
                         std::optional<TimePoint> to, TimePoint now) {
    UsagePeriod period;
    const TimePoint asked = to.value_or(now);
    period.to = std::min(asked, now);
    // What ends with a month is of that month.
    period.from = from ? *from : span ? now - *span : first_of_month(asked - Duration{1});
    return period;
}

}  // namespace reaper

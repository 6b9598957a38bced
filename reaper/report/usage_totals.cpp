#include "reaper/report/usage_totals.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace reaper {
namespace {

TimePoint first_of_month(TimePoint time) {
    const std::chrono::year_month_day day{std::chrono::floor<std::chrono::days>(time)};
    return TimePoint{std::chrono::sys_days{day.year() / day.month() / 1}};
}

}  // namespace

/// The first report of a server counts, and any report that it was reclaimed.
void UsageSum::add(ServerRun run) {
    const auto [at, is_new] = known_.emplace(run.server, each_.size());
    if (is_new) {
        each_.push_back(std::move(run));
        return;
    }
    ServerRun& first = each_[at->second];
    if (!run.reclaimed) return;
    first.reclaimed = true;
    // Only what is revocable is ever reclaimed; its flavor or project may have changed since.
    first.revocable = true;
    if (!first.until) first.until = run.until;
}

bool UsageSum::sum(std::size_t servers) {
    const std::size_t end = std::min(each_.size(), summed_ + servers);
    for (; summed_ < end; ++summed_) {
        const ServerRun& run = each_[summed_];
        const TimePoint begin = std::max(run.from, from_);
        const TimePoint until = std::min(run.until.value_or(to_), to_);
        // One that ended in the second of its launch is a server too, of no hours.
        const bool over_before = run.until && *run.until <= from_ && run.from < from_;
        if (over_before || run.from >= to_ || until < begin) continue;
        UsageLine& line = lines_[{run.project, run.revocable}];
        line.project = run.project;
        line.revocable = run.revocable;
        ++line.servers;
        line.reclaimed += run.reclaimed && run.until && *run.until <= to_;
        const double hours = std::chrono::duration<double, std::ratio<3600>>(until - begin).count();
        line.hours += hours;
        for (const auto& [resource_class, amount] : run.holds)
            line.resource_hours[resource_class] += hours * static_cast<double>(amount);
    }
    return summed_ < each_.size();
}

std::vector<UsageLine> UsageSum::lines() const {
    std::vector<UsageLine> all;
    for (const auto& each : lines_) all.push_back(each.second);
    return all;
}

void add_names(const ProjectNames& names, std::vector<UsageLine>& lines) {
    for (UsageLine& line : lines) line.project_name = name_of_project(names, line.project);
}

std::vector<UsageLine> usage_of(const std::vector<ServerRun>& runs, TimePoint from, TimePoint to) {
    UsageSum sum{from, to};
    for (const ServerRun& run : runs) sum.add(run);
    while (sum.sum(runs.size())) {
    }
    return sum.lines();
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

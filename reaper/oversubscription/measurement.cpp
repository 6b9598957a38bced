#include "reaper/oversubscription/measurement.hpp"

#include <algorithm>
#include <cmath>

namespace reaper {
namespace {

/// Counters are read at slightly different times: this much more than all cores is no
/// contradiction.
constexpr double most_measured = 1.1;

bool possible(const UsageRange& used) {
    return std::isfinite(used.least) && std::isfinite(used.most) && used.least >= 0 &&
           used.least <= used.most;
}

UsageRange at_most(const UsageRange& used, double cores) {
    return {std::min(used.least, cores), std::min(used.most, cores)};
}

}  // namespace

std::string why_impossible(const UsageRange& used, double cores) {
    if (!std::isfinite(cores) || cores <= 0)
        return "the number of its cores is not a number above 0";
    if (!possible(used)) return "its use is not a number of 0 or more";
    if (used.most > cores * most_measured) return "more cores are said to be in use than it has";
    return {};
}

UsageRange usage_of_whole(double in_use, Amount held) {
    const double holders = std::min(in_use, static_cast<double>(std::max<Amount>(held, 0)));
    return {in_use - holders, in_use};
}

HostUsage checked(HostUsage usage) {
    if (!usage.known()) return usage;
    usage.why_unknown = why_impossible(usage.now, usage.cores);
    if (usage.known()) usage.why_unknown = why_impossible(usage.peak, usage.cores);
    if (usage.known() && !std::isfinite(usage.coverage))
        usage.why_unknown = "it is not known how many readings there are";
    if (!usage.known()) return usage;
    usage.now = at_most(usage.now, usage.cores);
    usage.peak = at_most(usage.peak, usage.cores);
    usage.peak = {std::max(usage.peak.least, usage.now.least),
                  std::max(usage.peak.most, usage.now.most)};
    usage.coverage = std::clamp(usage.coverage, 0.0, 1.0);
    return usage;
}

bool UsageHistory::add(const UsagePoint& point) {
    if (!possible(point.used)) return false;
    if (!recent_.empty() && point.at <= recent_.back().at) return false;
    if (!first_) first_ = point.at;
    if (!recent_.empty() && point.at - recent_.back().at > windows_.longest_gap)
        gaps_.push_back({recent_.back().at, point.at});
    recent_.push_back(point);
    while (recent_.size() > 1 && recent_.front().at <= point.at - windows_.smoothing)
        recent_.pop_front();
    now_ = {};
    for (const auto& each : recent_) {
        now_.least += each.used.least / static_cast<double>(recent_.size());
        now_.most += each.used.most / static_cast<double>(recent_.size());
    }
    remember(least_, {point.at, now_.least});
    remember(most_, {point.at, now_.most});
    forget_before(point.at);
    return true;
}

void UsageHistory::remember(std::deque<Mean>& falling, Mean mean) {
    while (!falling.empty() && falling.back().value <= mean.value) falling.pop_back();
    falling.push_back(mean);
}

void UsageHistory::forget_before(TimePoint now) {
    for (auto* const falling : {&least_, &most_})
        while (falling->size() > 1 && falling->front().at <= now - windows_.peak)
            falling->pop_front();
    while (!gaps_.empty() && gaps_.front().to <= now - windows_.trusted) gaps_.pop_front();
}

double UsageHistory::coverage(TimePoint now) const {
    if (windows_.trusted <= Duration::zero()) return 1;
    const TimePoint from = now - windows_.trusted;
    Duration missing{0};
    if (*first_ - from > windows_.longest_gap) missing += *first_ - from;
    for (const auto& gap : gaps_) missing += gap.to - std::max(gap.from, from);
    return 1 - static_cast<double>(missing.count()) / static_cast<double>(windows_.trusted.count());
}

HostUsage UsageHistory::at(const HostId& host, double cores, TimePoint now) {
    HostUsage usage;
    usage.host = host;
    usage.cores = cores;
    if (recent_.empty()) {
        usage.why_unknown = "there are no readings";
        return usage;
    }
    usage.measured_at = recent_.back().at;
    if (now - usage.measured_at > windows_.longest_gap) {
        usage.why_unknown =
            "the last reading is " + format_duration(now - usage.measured_at) + " old";
        return usage;
    }
    forget_before(now);
    usage.now = now_;
    usage.peak = {least_.front().value, most_.front().value};
    usage.coverage = coverage(now);
    return checked(std::move(usage));
}

}  // namespace reaper

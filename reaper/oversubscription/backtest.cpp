#include "reaper/oversubscription/backtest.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <utility>

namespace reaper {
namespace {

double hours_of(Duration span) {
    return std::chrono::duration<double, std::ratio<3600>>(span).count();
}

/// How far apart readings mostly are.
Duration usual_step(const std::vector<UsagePoint>& points) {
    std::vector<Duration> steps;
    for (std::size_t i = 1; i < points.size(); ++i)
        steps.push_back(points[i].at - points[i - 1].at);
    if (steps.empty()) return Duration{0};
    const auto middle = steps.begin() + static_cast<std::ptrdiff_t>(steps.size() / 2);
    std::nth_element(steps.begin(), middle, steps.end());
    return *middle;
}

/// The holders of oversubscribed room on one host, and what is counted of them.
class SoldRoom {
public:
    SoldRoom(double cores, Duration eviction_takes) : cores_{cores}, takes_{eviction_takes} {}

    Amount sold() const { return sold_; }
    /// vCPUs that are in use: sold, or evicted and not gone.
    Amount busy(TimePoint now) const {
        Amount sum = sold_;
        for (const auto& each : leaving_)
            if (each.until > now) sum += each.vcpus;
        return sum;
    }

    void evict(Amount vcpus, TimePoint now) {
        if (vcpus <= 0) return;
        ++result_.evictions;
        result_.evicted_vcpus += vcpus;
        sold_ -= vcpus;
        leaving_.push_back({now + takes_, vcpus});
    }
    /// Whatever is published is taken.
    void sell_up_to(Amount total) { sold_ = std::max(sold_, total); }

    /// From `now` on for `span`, while others want `wanted` cores.
    void pass(TimePoint now, Duration span, double wanted, Amount offered) {
        told_of_ += span;
        offered_ += span * offered;
        sold_for_ += span * sold_;
        while (!leaving_.empty() && leaving_.front().until <= now) leaving_.pop_front();
        const TimePoint end = now + span;
        while (now < end) {
            TimePoint until = end;
            for (const auto& each : leaving_)
                if (each.until > now) until = std::min(until, each.until);
            note_shortage(wanted + static_cast<double>(busy(now)) - cores_, until - now);
            now = until;
        }
    }

    void note_change() { ++result_.changes; }
    void note_left_alone() { ++result_.left_alone; }

    BacktestResult result() const {
        BacktestResult told = result_;
        told.hours = hours_of(told_of_);
        told.offered_hours = hours_of(offered_);
        told.sold_hours = hours_of(sold_for_);
        told.short_minutes = hours_of(short_for_) * 60;
        return told;
    }

private:
    struct Leaving {
        TimePoint until{};
        Amount vcpus = 0;
    };

    void note_shortage(double missing, Duration span) {
        if (missing <= 1e-9) return;
        short_for_ += span;
        result_.short_core_minutes += hours_of(span) * 60 * missing;
    }

    double cores_;
    Duration takes_;
    Amount sold_ = 0;
    std::deque<Leaving> leaving_;
    Duration told_of_{0}, offered_{0}, sold_for_{0}, short_for_{0};  // vCPU by vCPU
    BacktestResult result_;                                          // but for these times
};

/// For this time the reading at `i` is taken as current: a hole in the history is time of which
/// nothing is known.
Duration span_of(const std::vector<UsagePoint>& points, std::size_t i, Duration step,
                 Duration longest_gap) {
    if (i + 1 == points.size()) return step;
    const Duration span = points[i + 1].at - points[i].at;
    return span > longest_gap ? step : span;
}

/// What the metrics would have shown.
UsageRange as_measured(const UsageRange& others, Amount busy, double cores, bool per_server) {
    if (per_server) return others;
    const UsageRange whole =
        usage_of_whole(std::min(others.most + static_cast<double>(busy), cores), busy);
    return {std::max(whole.least - (others.most - others.least), 0.0), whole.most};
}

/// One host under one estimator.
BacktestResult backtest_host(const HostHistory& host, const Estimator& estimator,
                             const BacktestRules& rules) {
    const Duration step = usual_step(host.points);
    PublicationRules publication = rules.publication;
    UsageWindows windows = estimator.windows();
    windows.trusted = publication.trust_after;
    windows.longest_gap = std::max(windows.longest_gap, 2 * step);
    // A coarse history has fewer looks than there were intervals: each rise makes up for them.
    if (step > publication.interval && publication.interval > Duration::zero())
        publication.rise_step *=
            static_cast<double>(step.count()) / static_cast<double>(publication.interval.count());
    UsageHistory usage{windows};
    SoldRoom room{host.cores, rules.eviction_takes};
    PublishedState state;
    Amount last_total = 0;
    bool left_alone = false;
    for (std::size_t i = 0; i < host.points.size(); ++i) {
        const auto& point = host.points[i];
        usage.add(
            {point.at, as_measured(point.used, room.busy(point.at), host.cores, rules.per_server)});
        const Estimate estimate =
            estimator.estimate(host.facts, usage.at(host.facts.id, host.cores, point.at));
        Published published =
            next_published(state, estimate, {room.sold(), host.cores}, point.at, publication);
        state = std::move(published.state);
        if (rules.evict) room.evict(published.excess, point.at);
        if (!published.closed) room.sell_up_to(published.total);
        const Amount total = published.closed ? 0 : published.total;
        if (total != last_total) room.note_change();
        if (published.left_alone && !left_alone) room.note_left_alone();
        last_total = total;
        left_alone = published.left_alone;
        room.pass(point.at, span_of(host.points, i, step, windows.longest_gap), point.used.most,
                  total);
    }
    return room.result();
}

/// Of each point, the CPU that is not needed from then on for `ahead`.
std::vector<Amount> free_ahead(const HostHistory& host, Duration ahead) {
    const double most = std::min({static_cast<double>(host.facts.allocated),
                                  static_cast<double>(host.facts.vcpus), host.cores});
    std::vector<Amount> free(host.points.size());
    std::deque<std::size_t> highest;  // points ahead whose use no earlier one reaches
    for (std::size_t i = host.points.size(); i-- > 0;) {
        const auto& point = host.points[i];
        while (!highest.empty() && host.points[highest.front()].used.most <= point.used.most)
            highest.pop_front();
        highest.push_front(i);
        while (host.points[highest.back()].at > point.at + ahead) highest.pop_back();
        const double room = most - host.points[highest.back()].used.most;
        free[i] = room > 0 ? static_cast<Amount>(std::floor(room + 1e-9)) : 0;
    }
    return free;
}

}  // namespace

BacktestResult& BacktestResult::operator+=(const BacktestResult& other) {
    hours += other.hours;
    offered_hours += other.offered_hours;
    sold_hours += other.sold_hours;
    evictions += other.evictions;
    evicted_vcpus += other.evicted_vcpus;
    short_minutes += other.short_minutes;
    short_core_minutes += other.short_core_minutes;
    changes += other.changes;
    left_alone += other.left_alone;
    return *this;
}

BacktestResult backtest(const std::vector<HostHistory>& hosts, const Estimator& estimator,
                        const BacktestRules& rules) {
    BacktestResult all;
    all.estimator = estimator.name();
    for (const auto& host : hosts) all += backtest_host(host, estimator, rules);
    return all;
}

BacktestResult backtest_oracle(const std::vector<HostHistory>& hosts, Duration ahead,
                               const BacktestRules& rules) {
    BacktestResult all;
    all.estimator = "oracle";
    for (const auto& host : hosts) {
        const Duration step = usual_step(host.points);
        const std::vector<Amount> free = free_ahead(host, ahead);
        SoldRoom room{host.cores, rules.eviction_takes};
        Amount last_total = 0;
        for (std::size_t i = 0; i < host.points.size(); ++i) {
            const auto& point = host.points[i];
            room.evict(room.sold() - free[i], point.at);
            room.sell_up_to(free[i]);
            if (free[i] != last_total) room.note_change();
            last_total = free[i];
            room.pass(point.at, span_of(host.points, i, step, 2 * step), point.used.most, free[i]);
        }
        all += room.result();
    }
    return all;
}

}  // namespace reaper

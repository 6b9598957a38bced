#include "reaper/cli/cloud/usage_history.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "reaper/model/text.hpp"
#include "reaper/model/time_text.hpp"
#include "reaper/oversubscription/host_facts.hpp"

namespace reaper::cli {
namespace {

/// Prometheus gives 11,000 points of a series at most.
constexpr std::size_t most_points_of_a_series = 10'000;
/// Of all series of one answer.
constexpr std::size_t most_points = 400'000;
constexpr Duration cores_step = std::chrono::hours{1};

/// No figure of any series.
constexpr double not_told = -1;

bool possible(double value) {
    return std::isfinite(value) && value >= 0;
}

/// Puts series together, host by host.
class Gatherer {
public:
    Gatherer(const config::Prometheus& settings, const std::vector<HostFacts>& hosts,
             std::set<ServerId> holders, const HistorySpan& span)
        : settings_{settings}, holders_{std::move(holders)}, span_{span} {
        for (const auto& facts : hosts) names_.add(facts);
    }

    void add_cores(const SampleSeries& series) {
        const auto host = host_of(series);
        if (!host || series.points.empty()) return;
        for (const auto& [at, value] : series.points)
            if (possible(value) && value > 0) cores_[*host] = value;
        if (!core_series_[*host].insert(series.labels).second) return;
        if (core_series_[*host].size() > 1) why_[*host] = "several figures for its cores";
    }

    void add_usage(const SampleSeries& series) {
        const auto host = host_of(series);
        if (!host) return;
        const ServerId server{label(series, settings_.server_label)};
        auto& first = usage_series_[*host].try_emplace(server, series.labels).first->second;
        if (first != series.labels)
            why_[*host] = settings_.server_label.empty()
                              ? "several figures for its use"
                              : "several figures for server " + printable(server.str(), 40);
        if (holders_.contains(server)) return;
        auto& sums = usage_[*host];
        if (sums.empty()) sums.assign(steps(), not_told);
        for (const auto& [at, value] : series.points) {
            const auto step = step_of(at);
            if (step >= sums.size()) continue;
            const double told = possible(value) ? value : std::nan("");
            sums[step] = sums[step] == not_told ? told : sums[step] + told;
        }
    }

    MeasuredHistory finish(const std::vector<HostFacts>& hosts) {
        MeasuredHistory all;
        all.span = span_;
        for (const auto& facts : hosts) {
            HostReadings history;
            history.facts = facts;
            if (const auto cores = cores_.find(facts.id); cores != cores_.end())
                history.cores = cores->second;
            history.used = std::move(usage_[facts.id]);
            std::string why = why_[facts.id];
            if (why.empty() && std::none_of(history.used.begin(), history.used.end(), possible))
                why = "nothing was measured of its use";
            if (why.empty() && history.cores <= 0) why = "its cores are not known";
            if (why.empty())
                all.hosts.push_back(std::move(history));
            else
                all.without.emplace(facts.name, std::move(why));
            usage_.erase(facts.id);
        }
        all.strangers = std::move(strangers_);
        return all;
    }

private:
    using Labels = std::map<std::string, std::string>;

    static std::string label(const SampleSeries& series, const std::string& name) {
        const auto at = series.labels.find(name);
        return at == series.labels.end() ? "" : at->second;
    }

    std::size_t steps() const {
        return static_cast<std::size_t>((span_.until - span_.from) / span_.step) + 1;
    }
    /// Prometheus' times are rounded.
    std::size_t step_of(TimePoint at) const {
        const auto since = at - span_.from + span_.step / 2;
        return since < Duration{0} ? steps() : static_cast<std::size_t>(since / span_.step);
    }

    std::optional<HostId> host_of(const SampleSeries& series) {
        const std::string name = label(series, settings_.host_label);
        auto host = names_.find(name);
        if (!host) strangers_.insert(name);
        return host;
    }

    const config::Prometheus& settings_;
    std::set<ServerId> holders_;
    const HistorySpan span_;
    HostNames names_;
    std::map<HostId, double> cores_;
    std::map<HostId, std::set<Labels>> core_series_;
    std::map<HostId, std::map<ServerId, Labels>> usage_series_;
    std::map<HostId, std::vector<double>> usage_;  ///< at each step
    std::map<HostId, std::string> why_;
    std::set<std::string> strangers_;
};

/// So that one answer is small enough.
Duration piece_of(std::size_t series, Duration step) {
    const std::size_t points = std::clamp<std::size_t>(
        most_points / std::max<std::size_t>(series, 1), 1, most_points_of_a_series);
    return step * static_cast<Duration::rep>(points);
}

}  // namespace

HostHistory history_of(const HostReadings& readings, const HistorySpan& span) {
    HostHistory history;
    history.facts = readings.facts;
    history.cores = readings.cores;
    TimePoint at = span.from;
    for (const double used : readings.used) {
        if (possible(used)) history.points.push_back({at, {used, used}});
        at += span.step;
    }
    return history;
}

ResultTask<MeasuredHistory> read_usage_history(Metrics& metrics, config::Prometheus settings,
                                               std::vector<HostFacts> hosts,
                                               std::set<ServerId> holders, HistorySpan span,
                                               ReadingProgress progress) {
    Gatherer gatherer{settings, hosts, std::move(holders), span};
    std::string expression = settings.cores_query;
    const Duration coarse = std::max(span.step, cores_step);
    // The last one is of the end: a short history may have no other.
    const TimePoint first = span.until - coarse * ((span.until - span.from) / coarse);
    auto cores = co_await metrics.query_range(std::move(expression), first, span.until, coarse);
    if (!cores) co_return Error{cores.error().code, "cores_query: " + cores.error().what};
    for (const auto& series : *cores) gatherer.add_cores(series);
    // There were about as many as there are.
    expression = settings.usage_query;
    auto now = co_await metrics.query(std::move(expression));
    if (!now) co_return Error{now.error().code, "usage_query: " + now.error().what};
    const Duration piece = piece_of(2 * std::max(now->size(), hosts.size()), span.step);
    const auto pieces = static_cast<std::size_t>((span.until - span.from) / piece) + 1;
    std::size_t number = 0;
    for (TimePoint from = span.from; from <= span.until; from += piece) {
        if (progress) progress(++number, pieces);
        const TimePoint until = std::min(span.until, from + piece - span.step);
        expression = settings.usage_query;
        auto usage = co_await metrics.query_range(std::move(expression), from, until, span.step);
        if (!usage) co_return Error{usage.error().code, "usage_query: " + usage.error().what};
        for (const auto& series : *usage) gatherer.add_usage(series);
    }
    co_return gatherer.finish(hosts);
}

}  // namespace reaper::cli

// Measurements that a test makes up. An expression is a name for series: nothing is evaluated. As
// Prometheus, it takes the newest value of the last five minutes.
#pragma once

#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "reaper/ports/metrics.hpp"
#include "reaper/runtime/clock.hpp"
#include "tests/fakes/breathe.hpp"

namespace reaper::test {

class FakeMetrics final : public Metrics {
public:
    static constexpr Duration lookback = std::chrono::minutes(5);

    explicit FakeMetrics(const Clock& clock) : clock_(clock) {}

    /// One value more, measured now.
    void measure(const std::string& expression, const std::map<std::string, std::string>& labels,
                 double value) {
        measure_at(expression, labels, clock_.now() + skew, value);
    }
    void measure_at(const std::string& expression, const std::map<std::string, std::string>& labels,
                    TimePoint at, double value) {
        points_[expression][labels].insert_or_assign(at, value);
    }
    /// As if its target were gone.
    void forget(const std::string& expression, const std::map<std::string, std::string>& labels) {
        points_[expression].erase(labels);
    }

    ResultTask<std::vector<Sample>> query(std::string expression) override {
        asked.push_back(expression);
        co_await breathe();
        if (auto error = error_of(expression)) co_return std::move(*error);
        co_return samples(expression);
    }

    ResultTask<std::vector<SampleSeries>> query_range(std::string expression, TimePoint from,
                                                      TimePoint to, Duration step) override {
        asked.push_back(expression);
        ranges.emplace_back(from, to);
        co_await breathe();
        if (auto error = error_of(expression)) co_return std::move(*error);
        if (on_range)
            if (auto error = on_range()) co_return std::move(*error);
        if (from > to || step <= Duration(0))
            co_return Error{Errc::bad_input, "metrics: no such times"};
        co_return series(expression, from, to, step);
    }

    /// The same at once.
    std::vector<Sample> samples(const std::string& expression) const {
        std::vector<Sample> all;
        const TimePoint at = clock_.now() + skew;
        for (const auto& [labels, points] : points_of(expression))
            if (const auto value = value_at(points, at)) all.push_back(Sample{labels, *value, at});
        return all;
    }
    std::vector<SampleSeries> series(const std::string& expression, TimePoint from, TimePoint to,
                                     Duration step) const {
        std::vector<SampleSeries> all;
        for (const auto& [labels, points] : points_of(expression)) {
            SampleSeries one{labels, {}};
            for (TimePoint at = from; at <= to; at += step)
                if (const auto value = value_at(points, at)) one.points.emplace_back(at, *value);
            if (!one.points.empty()) all.push_back(std::move(one));
        }
        return all;
    }

    std::vector<std::string> asked;                       ///< expressions, in order
    std::vector<std::pair<TimePoint, TimePoint>> ranges;  ///< that were asked for, in order
    std::map<std::string, Error> fails;                   ///< by expression
    std::function<std::optional<Error>()> on_range;       ///< may fail a question for the past
    std::optional<Error> down;                            ///< every call fails so
    Duration skew{0};                                     ///< its clock is ahead of ours by so much

private:
    using Points = std::map<TimePoint, double>;
    using ByLabels = std::map<std::map<std::string, std::string>, Points>;

    const ByLabels& points_of(const std::string& expression) const {
        static const ByLabels none;
        const auto found = points_.find(expression);
        return found == points_.end() ? none : found->second;
    }

    std::optional<Error> error_of(const std::string& expression) const {
        if (down) return down;
        const auto found = fails.find(expression);
        if (found == fails.end()) return std::nullopt;
        return found->second;
    }
    static std::optional<double> value_at(const Points& points, TimePoint at) {
        const auto later = points.upper_bound(at);
        if (later == points.begin()) return std::nullopt;
        const auto& [measured_at, value] = *std::prev(later);
        if (at - measured_at >= lookback) return std::nullopt;
        return value;
    }

    const Clock& clock_;
    std::map<std::string, ByLabels> points_;
};

}  // namespace reaper::test

// What all users of metrics rely on, with each source: the fake, the client before a
// scripted server, and before a real Prometheus.
#pragma once

#include <cmath>
#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "reaper/ports/metrics.hpp"

namespace reaper::test {

/// The world that a contract is checked in. All series are measured every 10 s.
struct MetricsWorld {
    /// Two hosts now: `a` with 0.25, `b` with NaN; with a label `host` and others.
    std::string now = "contract_now";
    /// Of the past: host `a`, the values 0, 1, 2, ... from `begin` on, 60 of them; and then `+Inf`.
    std::string history = "contract_history";
    TimePoint begin{};
    std::string nothing = "contract_nothing";  ///< that is not measured
    std::string wrong = "contract{";           ///< that can't be understood
};

inline constexpr Duration contract_interval{10'000};

class MetricsContract {
public:
    using Run = std::function<Result<std::vector<Sample>>(ResultTask<std::vector<Sample>>)>;
    using RunRange =
        std::function<Result<std::vector<SampleSeries>>(ResultTask<std::vector<SampleSeries>>)>;

    MetricsContract(Metrics& metrics, MetricsWorld world, Run run, RunRange run_range)
        : metrics_(metrics),
          world_(std::move(world)),
          run_(std::move(run)),
          run_range_(std::move(run_range)) {}

    void check() {
        check_now();
        check_history();
        check_gap();
        check_refusals();
    }

private:
    Result<std::vector<SampleSeries>> range(const std::string& expression, TimePoint from,
                                            TimePoint to, Duration step) {
        return run_range_(metrics_.query_range(expression, from, to, step));
    }

    void check_now() {
        const auto found = run_(metrics_.query(world_.now));
        ASSERT_TRUE(found) << found.error().what;
        std::map<std::string, double> values;
        for (const Sample& sample : *found) {
            ASSERT_TRUE(sample.labels.contains("host"));
            values[sample.labels.at("host")] = sample.value;
            EXPECT_EQ(sample.at, found->front().at) << "all have the same time";
        }
        ASSERT_EQ(values.size(), 2U);
        EXPECT_EQ(values.at("a"), 0.25);
        EXPECT_TRUE(std::isnan(values.at("b")));
        const auto none = run_(metrics_.query(world_.nothing));
        ASSERT_TRUE(none) << none.error().what;
        EXPECT_TRUE(none->empty());
    }

    void check_history() {
        const TimePoint from = world_.begin + 5 * contract_interval;
        const auto found =
            range(world_.history, from, from + 3 * contract_interval, contract_interval);
        ASSERT_TRUE(found) << found.error().what;
        ASSERT_EQ(found->size(), 1U);
        EXPECT_EQ(found->front().labels.at("host"), "a");
        const std::vector<std::pair<TimePoint, double>> expected{{from, 5},
                                                                 {from + contract_interval, 6},
                                                                 {from + 2 * contract_interval, 7},
                                                                 {from + 3 * contract_interval, 8}};
        EXPECT_EQ(found->front().points, expected) << "both ends are in, oldest first";
        const auto one = range(world_.history, from, from, Duration(1500));
        ASSERT_TRUE(one && one->size() == 1U);
        EXPECT_EQ(one->front().points.size(), 1U);
        const TimePoint end = world_.begin + 60 * contract_interval;
        const auto last = range(world_.history, end, end, contract_interval);
        ASSERT_TRUE(last && last->size() == 1U);
        EXPECT_EQ(last->front().points.front().second, std::numeric_limits<double>::infinity());
        const auto none = range(world_.nothing, from, from + contract_interval, contract_interval);
        ASSERT_TRUE(none) << none.error().what;
        EXPECT_TRUE(none->empty());
    }

    /// A value counts for less than five minutes; a step without one is left out.
    void check_gap() {
        const TimePoint before = world_.begin - std::chrono::minutes(1);
        const auto early =
            range(world_.history, before, world_.begin + contract_interval, contract_interval);
        ASSERT_TRUE(early && early->size() == 1U);
        EXPECT_EQ(early->front().points.size(), 2U);
        EXPECT_EQ(early->front().points.front().first, world_.begin);
        const TimePoint end = world_.begin + 60 * contract_interval;
        const auto late = range(world_.history, end + std::chrono::minutes(4),
                                end + std::chrono::minutes(6), std::chrono::minutes(2));
        ASSERT_TRUE(late && late->size() == 1U);
        EXPECT_EQ(late->front().points.size(), 1U);
        const auto gone = range(world_.history, end + std::chrono::minutes(6),
                                end + std::chrono::minutes(7), contract_interval);
        ASSERT_TRUE(gone) << gone.error().what;
        EXPECT_TRUE(gone->empty());
    }

    void check_refusals() {
        const auto wrong = run_(metrics_.query(world_.wrong));
        ASSERT_FALSE(wrong);
        EXPECT_EQ(wrong.error().code, Errc::rejected) << wrong.error().what;
        const TimePoint from = world_.begin;
        const auto wrong_range =
            range(world_.wrong, from, from + contract_interval, contract_interval);
        ASSERT_FALSE(wrong_range);
        EXPECT_EQ(wrong_range.error().code, Errc::rejected) << wrong_range.error().what;
        for (const Duration step : {Duration(0), Duration(-1)}) {
            const auto found = range(world_.history, from, from + contract_interval, step);
            ASSERT_FALSE(found);
            EXPECT_EQ(found.error().code, Errc::bad_input);
        }
        const auto backwards =
            range(world_.history, from, from - contract_interval, contract_interval);
        ASSERT_FALSE(backwards);
        EXPECT_EQ(backwards.error().code, Errc::bad_input);
    }

    Metrics& metrics_;
    MetricsWorld world_;
    Run run_;
    RunRange run_range_;
};

}  // namespace reaper::test

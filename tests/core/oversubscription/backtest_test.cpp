#include "reaper/oversubscription/backtest.hpp"

#include <gtest/gtest.h>

#include "core/bursty_day.hpp"
#include "core/oversubscription_builder.hpp"

namespace reaper::backtest_test {
namespace {

using namespace reaper::testing;
using namespace std::chrono_literals;

/// One host with 10 cores, all allocated; so many cores in use in each minute.
std::vector<HostHistory> minutes_of(const std::vector<double>& used) {
    HostHistory host;
    host.facts.id = HostId{"h1-uuid"};
    host.facts.name = host.facts.service_host = "h1";
    host.facts.vcpus = 10;
    host.facts.allocated = 10;
    host.cores = 10;
    for (std::size_t i = 0; i < used.size(); ++i)
        host.points.push_back({noon + std::chrono::minutes{i}, {used[i], used[i]}});
    return {host};
}

/// `first` for so many minutes, then `then` for as many.
std::vector<double> step_up(double first, double then, std::size_t minutes) {
    std::vector<double> used(minutes, first);
    used.resize(2 * minutes, then);
    return used;
}

BacktestRules at_once() {
    BacktestRules rules;
    rules.publication.rise_after = 0s;
    rules.publication.rise_step = 1;
    rules.publication.trust_after = 0s;
    rules.per_server = true;
    return rules;
}

std::unique_ptr<Estimator> sharp_slack() {
    return estimator_of("usage_slack", {{"margin", std::string{"0"}},
                                        {"smoothing", std::string{"0s"}},
                                        {"peak", std::string{"0s"}}});
}

TEST(Backtest, NoopSellsNothing) {
    const auto result = backtest(minutes_of(step_up(2, 9, 30)), *estimator_of("noop"), at_once());
    EXPECT_EQ(result.estimator, "noop");
    EXPECT_DOUBLE_EQ(result.hours, 1);
    EXPECT_EQ(result.sold_hours, 0);
    EXPECT_EQ(result.offered_hours, 0);
    EXPECT_EQ(result.evictions, 0);
    EXPECT_EQ(result.short_minutes, 0);
    EXPECT_EQ(result.changes, 0);
}

TEST(Backtest, FixedSellsTheSameAndRegularServersAreShort) {
    const auto fixed = estimator_of("fixed", {{"vcpus", std::int64_t{4}}});
    const auto result = backtest(minutes_of(step_up(2, 9, 30)), *fixed, at_once());
    EXPECT_DOUBLE_EQ(result.sold_hours, 4);
    EXPECT_DOUBLE_EQ(result.offered_hours, 4);
    EXPECT_EQ(result.evictions, 0);
    EXPECT_DOUBLE_EQ(result.short_minutes, 30);
    EXPECT_DOUBLE_EQ(result.short_core_minutes, 90);  // 9 + 4 of 10
    EXPECT_EQ(result.changes, 1);
}

TEST(Backtest, SlackIsSoldAndTakenBack) {
    BacktestRules rules = at_once();
    rules.eviction_takes = 30s;
    const auto result = backtest(minutes_of(step_up(2, 7, 30)), *sharp_slack(), rules);
    EXPECT_DOUBLE_EQ(result.sold_hours, 8 * 0.5 + 3 * 0.5);
    EXPECT_EQ(result.evictions, 1);
    EXPECT_EQ(result.evicted_vcpus, 5);
    EXPECT_EQ(result.changes, 2);
    // Until the evicted are gone: 7 + 8 of 10.
    EXPECT_NEAR(result.short_minutes, 0.5, 1e-9);
    EXPECT_NEAR(result.short_core_minutes, 2.5, 1e-9);
}

TEST(Backtest, AnEvictionMayTakeLongerThanAReading) {
    BacktestRules rules = at_once();
    rules.eviction_takes = 150s;
    const auto result = backtest(minutes_of(step_up(2, 7, 30)), *sharp_slack(), rules);
    EXPECT_NEAR(result.short_minutes, 2.5, 1e-9);
    EXPECT_EQ(result.evictions, 1);
}

TEST(Backtest, WhatIsLeftToDrainStays) {
    BacktestRules rules = at_once();
    rules.evict = false;
    const auto result = backtest(minutes_of(step_up(2, 7, 30)), *sharp_slack(), rules);
    EXPECT_DOUBLE_EQ(result.sold_hours, 8);
    EXPECT_DOUBLE_EQ(result.offered_hours, 5.5);
    EXPECT_EQ(result.evictions, 0);
    EXPECT_NEAR(result.short_minutes, 30, 1e-9);
}

TEST(Backtest, AClosedHostSellsNothing) {
    const auto result = backtest(minutes_of(step_up(2, 10, 30)), *sharp_slack(), at_once());
    EXPECT_EQ(result.evictions, 1);
    EXPECT_EQ(result.evicted_vcpus, 8);
    EXPECT_DOUBLE_EQ(result.sold_hours, 4);
}

TEST(Backtest, WhereOnlyTheWholeUseIsKnownHoldersThatUseAllLimitTheRise) {
    BacktestRules rules = at_once();
    rules.per_server = false;
    rules.publication.rise_step = 0;  // 1 vCPU at a time
    const auto result = backtest(minutes_of(std::vector<double>(600, 2)), *sharp_slack(), rules);
    // 4 sold: 6 in use, which might all be others' use: no more than 4 may be sold beside.
    EXPECT_NEAR(result.sold_hours, 40, 0.5);
    EXPECT_EQ(result.evictions, 0);
}

TEST(Backtest, ABusyHolderDoesNotDriveItselfOut) {
    BacktestRules rules = at_once();
    rules.per_server = false;
    const auto result = backtest(minutes_of(std::vector<double>(120, 2)), *sharp_slack(), rules);
    EXPECT_DOUBLE_EQ(result.sold_hours, 16);  // 8, though 10 of 10 cores are in use
    EXPECT_EQ(result.evictions, 0);
}

TEST(Backtest, WhereOnlyTheWholeUseIsKnownAFullHostIsTakenBackByItsMargin) {
    BacktestRules rules = at_once();
    rules.per_server = false;
    const auto slack = estimator_of("usage_slack", {{"margin", std::string{"0.1"}},
                                                    {"smoothing", std::string{"0s"}},
                                                    {"peak", std::string{"0s"}}});
    const auto result = backtest(minutes_of(step_up(2, 5, 60)), *slack, rules);
    // 7 were sold. Others want 5 of 10: 6, 5 and 4 are left, then it is no longer full.
    EXPECT_EQ(result.evictions, 3);
    EXPECT_EQ(result.evicted_vcpus, 3);
    EXPECT_DOUBLE_EQ(result.sold_hours, 7 + (6 + 5 + 4 * 58) / 60.0);
}

TEST(Backtest, TheFirstHourIsNotTrusted) {
    BacktestRules rules = at_once();
    rules.publication.trust_after = 1h;
    const auto result = backtest(minutes_of(std::vector<double>(120, 2)), *sharp_slack(), rules);
    EXPECT_NEAR(result.sold_hours, 8 * 63 / 60.0, 1e-9);  // 95 % of it: from minute 57 on
}

TEST(Backtest, AHoleIsNoTimeThatWasSold) {
    auto history = minutes_of(std::vector<double>(60, 2));
    for (std::size_t i = 30; i < 60; ++i) history[0].points[i].at += 24h;
    const auto result = backtest(history, *sharp_slack(), at_once());
    EXPECT_DOUBLE_EQ(result.hours, 1);
    EXPECT_DOUBLE_EQ(result.sold_hours, 8);
}

TEST(Backtest, ACoarseHistoryRisesAsFastAsTheDaemon) {
    BacktestRules rules = at_once();
    rules.publication.rise_step = 0.1;  // 1 vCPU in 15 s
    const auto result = backtest(minutes_of(std::vector<double>(60, 2)), *sharp_slack(), rules);
    EXPECT_NEAR(result.sold_hours, 8 - 4 / 60.0, 1e-9);  // 4 in the first minute, then 8
}

TEST(Backtest, AnEmptyHistoryIsNothing) {
    EXPECT_EQ(backtest({}, *sharp_slack(), at_once()).hours, 0);
    EXPECT_EQ(backtest(minutes_of({}), *sharp_slack(), at_once()).hours, 0);
    EXPECT_EQ(backtest_oracle(minutes_of({}), 1h, at_once()).hours, 0);
}

TEST(BacktestOracle, SellsWhatIsNotNeededWithinTheHour) {
    std::vector<double> used(180, 2);
    used[120] = 6;
    const auto result = backtest_oracle(minutes_of(used), 1h, at_once());
    EXPECT_EQ(result.estimator, "oracle");
    EXPECT_DOUBLE_EQ(result.sold_hours, (8 * 60 + 4 * 61 + 8 * 59) / 60.0);
    EXPECT_EQ(result.short_minutes, 0);
    EXPECT_EQ(result.evictions, 1);
}

TEST(BurstyDay, IsTheSameForTheSameSeed) {
    const auto sum = [](std::uint64_t seed) {
        BurstyDay day;
        day.seed = seed;
        double all = 0;
        for (const auto& host : bursty_day(day))
            for (const auto& point : host.points) all += point.used.most;
        return all;
    };
    EXPECT_EQ(sum(1), sum(1));
    EXPECT_NE(sum(1), sum(2));
}

TEST(BurstyDay, NoEstimatorBeatsTheOracleAndSlackIsSafer) {
    BurstyDay day;
    day.hosts = 20;
    const auto history = bursty_day(day);
    BacktestRules rules;
    rules.per_server = true;
    const auto slack = backtest(history, *estimator_of("usage_slack"), rules);
    const auto fixed =
        backtest(history, *estimator_of("fixed", {{"vcpus", std::int64_t{14}}}), rules);
    const auto oracle = backtest_oracle(history, 1h, rules);
    EXPECT_DOUBLE_EQ(slack.hours, 20 * 24);
    EXPECT_LT(slack.sold_hours, oracle.sold_hours);
    EXPECT_GT(slack.sold_hours, oracle.sold_hours / 4);
    EXPECT_LT(slack.short_minutes, fixed.short_minutes / 10);
    EXPECT_EQ(oracle.short_minutes, 0);
    EXPECT_GT(slack.evictions, 0);
}

}  // namespace
}  // namespace reaper::backtest_test

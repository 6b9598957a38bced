#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>

#include "core/oversubscription_builder.hpp"
#include "core/seeded.hpp"
#include "reaper/oversubscription/measurement.hpp"

namespace reaper::usage_history_test {
namespace {

using namespace reaper::testing;
using namespace std::chrono_literals;
using ::testing::HasSubstr;

constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();
constexpr double infinite = std::numeric_limits<double>::infinity();

UsagePoint reading(Duration after, double used) {
    return {noon + after, {used, used}};
}

HostUsage usage_at(UsageHistory& history, Duration after, double cores = 32) {
    return history.at(HostId{"h1"}, cores, noon + after);
}

HostUsage good_usage() {
    HostUsage usage;
    usage.cores = 8;
    usage.now = {1, 2};
    usage.peak = {3, 4};
    usage.coverage = 1;
    return usage;
}

TEST(Usage, TheHoldersPartOfTheWholeIsBetweenNothingAndAllTheyHold) {
    EXPECT_EQ(usage_of_whole(10, 4), (UsageRange{6, 10}));
    EXPECT_EQ(usage_of_whole(3, 4), (UsageRange{0, 3}));
    EXPECT_EQ(usage_of_whole(3, 0), (UsageRange{3, 3}));
    EXPECT_EQ(usage_of_whole(3, -1), (UsageRange{3, 3}));
}

TEST(Usage, ImpossibleNumbersAreUnknown) {
    EXPECT_TRUE(checked(good_usage()).known());
    const auto spoiled = [](auto spoil) {
        HostUsage usage = good_usage();
        spoil(usage);
        return checked(usage).known();
    };
    EXPECT_FALSE(spoiled([](auto& u) { u.cores = 0; }));
    EXPECT_FALSE(spoiled([](auto& u) { u.cores = nan_value; }));
    EXPECT_FALSE(spoiled([](auto& u) { u.cores = infinite; }));
    EXPECT_FALSE(spoiled([](auto& u) { u.now.most = nan_value; }));
    EXPECT_FALSE(spoiled([](auto& u) { u.now.least = -0.1; }));
    EXPECT_FALSE(spoiled([](auto& u) { u.peak = {5, 4}; }));
    EXPECT_FALSE(spoiled([](auto& u) { u.peak.most = infinite; }));
    EXPECT_FALSE(spoiled([](auto& u) { u.peak.most = 8.9; }));
    EXPECT_FALSE(spoiled([](auto& u) { u.now.most = 8.9; }));
    EXPECT_FALSE(spoiled([](auto& u) { u.coverage = nan_value; }));
    EXPECT_FALSE(spoiled([](auto& u) { u.why_unknown = "stale"; }));
}

TEST(Usage, ALittleMoreThanAllCoresIsAllOfThem) {
    HostUsage usage = good_usage();
    usage.peak.most = 8.7;
    usage.now.most = 8.2;
    EXPECT_EQ(checked(usage).peak.most, 8);
    EXPECT_EQ(checked(usage).now.most, 8);
}

TEST(Usage, ThePeakIsNeverBelowNow) {
    HostUsage usage = good_usage();
    usage.now = {3.5, 6};
    EXPECT_EQ(checked(usage).peak, (UsageRange{3.5, 6}));
}

TEST(UsageHistory, NowIsTheMeanOfTheSmoothingWindow) {
    UsageHistory history{{60s, 1h, 0s, 2min}};
    history.add(reading(0s, 30));
    history.add(reading(30s, 4));
    EXPECT_EQ(usage_at(history, 30s).now, (UsageRange{17, 17}));
    history.add(reading(60s, 8));
    EXPECT_EQ(usage_at(history, 60s).now, (UsageRange{6, 6}));  // that of 0s is a minute old
}

TEST(UsageHistory, WithoutSmoothingEachReadingCountsAsItIs) {
    UsageHistory history{{0s, 0s, 0s, 2min}};
    history.add(reading(0s, 9));
    history.add(reading(30s, 4));
    EXPECT_EQ(usage_at(history, 30s).now, (UsageRange{4, 4}));
    EXPECT_EQ(usage_at(history, 30s).peak, (UsageRange{4, 4}));
}

TEST(UsageHistory, APeakCountsUntilItsWindowIsOver) {
    UsageHistory history{{0s, 10min, 0s, 2min}};
    for (int minute = 0; minute <= 10; ++minute)
        history.add(reading(std::chrono::minutes{minute}, minute == 1 ? 20 : 5));
    EXPECT_EQ(usage_at(history, 10min).peak.most, 20);
    EXPECT_EQ(usage_at(history, 10min + 59s).peak.most, 20);
    EXPECT_EQ(usage_at(history, 11min).peak.most, 5);
}

TEST(UsageHistory, EachEndHasItsOwnPeak) {
    UsageHistory history{{0s, 10min, 0s, 2min}};
    history.add({noon, {1, 9}});
    history.add({noon + 1min, {4, 6}});
    EXPECT_EQ(usage_at(history, 1min).peak, (UsageRange{4, 9}));
}

TEST(UsageHistory, ReadingsOutOfOrderOrImpossibleAreLeftOut) {
    UsageHistory history{{0s, 1h, 0s, 2min}};
    EXPECT_TRUE(history.add(reading(60s, 3)));
    EXPECT_FALSE(history.add(reading(60s, 9)));
    EXPECT_FALSE(history.add(reading(30s, 9)));
    EXPECT_FALSE(history.add(reading(90s, nan_value)));
    EXPECT_FALSE(history.add(reading(90s, -1)));
    EXPECT_FALSE(history.add({noon + 90s, {5, 4}}));
    EXPECT_EQ(usage_at(history, 90s).peak.most, 3);
    EXPECT_EQ(usage_at(history, 90s).measured_at, noon + 60s);
}

TEST(UsageHistory, WithoutAFreshReadingNothingIsKnown) {
    UsageHistory history{{0s, 1h, 0s, 2min}};
    EXPECT_EQ(usage_at(history, 0s).why_unknown, "there are no readings");
    history.add(reading(0s, 3));
    EXPECT_TRUE(usage_at(history, 2min).known());
    EXPECT_THAT(usage_at(history, 2min + 1ms).why_unknown, HasSubstr("the last reading is 2min"));
}

TEST(UsageHistory, CoverageGrowsUntilTheTrustedTimeIsFull) {
    UsageHistory history{{0s, 1h, 1h, 2min}};
    for (int minute = 0; minute <= 30; ++minute)
        history.add(reading(std::chrono::minutes{minute}, 3));
    EXPECT_DOUBLE_EQ(usage_at(history, 30min).coverage, 0.5);
    for (int minute = 31; minute <= 60; ++minute)
        history.add(reading(std::chrono::minutes{minute}, 3));
    EXPECT_DOUBLE_EQ(usage_at(history, 60min).coverage, 1);
}

TEST(UsageHistory, AHoleIsMissingUntilTheTrustedTimeIsPastIt) {
    UsageHistory history{{0s, 1h, 1h, 2min}};
    for (int minute = 0; minute <= 100; ++minute)
        if (minute <= 60 || minute >= 72) history.add(reading(std::chrono::minutes{minute}, 3));
    EXPECT_DOUBLE_EQ(usage_at(history, 100min).coverage, 0.8);  // 60 to 72
    for (int minute = 101; minute <= 126; ++minute)
        history.add(reading(std::chrono::minutes{minute}, 3));
    EXPECT_DOUBLE_EQ(usage_at(history, 126min).coverage, 0.9);  // 66 to 72 of it
    for (int minute = 127; minute <= 132; ++minute)
        history.add(reading(std::chrono::minutes{minute}, 3));
    EXPECT_DOUBLE_EQ(usage_at(history, 132min).coverage, 1);
}

TEST(UsageHistory, EqualsWhatIsCountedFromAllReadings) {
    holds("windows over random readings", [] {
        const Duration smoothing = std::chrono::minutes{upto(10)};
        const Duration peak = std::chrono::minutes{upto(60)};
        UsageHistory history{{smoothing, peak, 0s, 2min}};
        std::vector<UsagePoint> all;
        Duration after{0};
        for (int i = 0; i < 80; ++i) {
            after += std::chrono::seconds{15 * (1 + upto(7))};
            all.push_back(reading(after, upto(32)));
            history.add(all.back());
        }
        const auto mean_at = [&](std::size_t last) {
            double sum = 0;
            int count = 0;
            for (std::size_t i = 0; i <= last; ++i)
                if (i == last || all[last].at - all[i].at < smoothing) {
                    sum += all[i].used.most;
                    ++count;
                }
            return sum / count;
        };
        double highest = mean_at(all.size() - 1);
        for (std::size_t i = 0; i < all.size(); ++i)
            if (all.back().at - all[i].at < peak) highest = std::max(highest, mean_at(i));
        const HostUsage usage = usage_at(history, after, 100);
        RC_ASSERT(std::abs(usage.now.most - mean_at(all.size() - 1)) < 1e-9);
        RC_ASSERT(std::abs(usage.peak.most - highest) < 1e-9);
    });
}

}  // namespace
}  // namespace reaper::usage_history_test

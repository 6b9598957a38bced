#include "reaper/runtime/duration_histogram.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>
#include <vector>

namespace reaper {
namespace {

using Length = DurationHistogram::Length;

TEST(DurationHistogram, HasNothingToTellOfNothing) {
    const DurationHistogram none;
    EXPECT_EQ(none.count(), 0U);
    EXPECT_EQ(none.within(990), Length{0});
    EXPECT_EQ(none.longest(), Length{0});
}

TEST(DurationHistogram, QuantilesAreAtMostAnEighthTooLong) {
    std::mt19937_64 random{7};
    std::lognormal_distribution<double> lengths{6.0, 3.0};
    DurationHistogram histogram;
    std::vector<long> all;
    for (int i = 0; i < 20'000; ++i) {
        all.push_back(static_cast<long>(lengths(random)));
        histogram.add(Length{all.back()});
    }
    std::sort(all.begin(), all.end());
    for (const unsigned permille : {1U, 10U, 500U, 900U, 990U, 999U, 1000U}) {
        const long exact = all[(all.size() * permille + 999) / 1000 - 1];
        EXPECT_GE(histogram.within(permille).count(), exact) << permille;
        EXPECT_LE(histogram.within(permille).count(), exact + exact / 8) << permille;
    }
    EXPECT_EQ(histogram.longest().count(), all.back());
}

TEST(DurationHistogram, TakesAnyLength) {
    DurationHistogram histogram;
    histogram.add(Length{-5});
    histogram.add(Length::max());
    EXPECT_EQ(histogram.count(), 2U);
    EXPECT_EQ(histogram.within(500), Length{0});
    EXPECT_EQ(histogram.within(1000), Length::max());
}

}  // namespace
}  // namespace reaper

#include "reaper/report/usage.hpp"

#include <gtest/gtest.h>

namespace reaper::usage_test {
namespace {

using std::chrono::hours;

const TimePoint midnight{std::chrono::sys_days{std::chrono::year{2026} / 11 / 1}};

TimePoint at(int hour) {
    return midnight + hours{hour};
}

ServerRun run(const std::string& server, const std::string& project, int from,
              std::optional<int> until, bool revocable = false) {
    ServerRun one;
    one.server = ServerId{server};
    one.project = ProjectId{project};
    one.holds = Resources{{"VCPU", 2}, {"MEMORY_MB", 1024}};
    one.from = at(from);
    if (until) one.until = at(*until);
    one.revocable = revocable;
    return one;
}

TEST(Usage, SumsByProjectAndType) {
    const auto lines = usage_of(
        {run("a", "p", 0, 3), run("b", "p", 1, 2), run("c", "p", 0, 1, true), run("d", "q", 2, 4)},
        at(0), at(24));
    ASSERT_EQ(lines.size(), 3U);
    EXPECT_EQ(lines[0].project, ProjectId{"p"});
    EXPECT_FALSE(lines[0].revocable);
    EXPECT_EQ(lines[0].servers, 2);
    EXPECT_DOUBLE_EQ(lines[0].hours, 4);
    EXPECT_DOUBLE_EQ(lines[0].resource_hours.at(ResourceClass{"VCPU"}), 8);
    EXPECT_DOUBLE_EQ(lines[0].resource_hours.at(ResourceClass{"MEMORY_MB"}), 4096);
    EXPECT_TRUE(lines[1].revocable);
    EXPECT_DOUBLE_EQ(lines[1].hours, 1);
    EXPECT_EQ(lines[2].project, ProjectId{"q"});
}

TEST(Usage, CountsOnlyWhatLiesWithinTheTime) {
    const auto lines = usage_of({run("before", "p", 0, 2), run("from-before", "p", 0, 4),
                                 run("still", "p", 5, std::nullopt), run("after", "p", 9, 10)},
                                at(3), at(6));
    ASSERT_EQ(lines.size(), 1U);
    EXPECT_EQ(lines[0].servers, 2);
    EXPECT_DOUBLE_EQ(lines[0].hours, 2);
}

TEST(Usage, AServerIsCountedOnceAndIsRevocableIfItWasReclaimed) {
    ServerRun killed = run("a", "p", 0, 2, true);
    killed.reclaimed = true;
    const auto lines = usage_of({run("a", "p", 0, 3), killed}, at(0), at(24));
    ASSERT_EQ(lines.size(), 1U);
    EXPECT_TRUE(lines[0].revocable);
    EXPECT_EQ(lines[0].servers, 1);
    EXPECT_EQ(lines[0].reclaimed, 1);
    EXPECT_DOUBLE_EQ(lines[0].hours, 2) << "then it was shelved, and deleted by its owner";
}

TEST(Usage, AServerThatWasShelvedAndCameBackCountsForEachOfItsTimes) {
    ServerRun first = run("a", "p", 2, 4, true), second = run("a", "p", 6, 7, true);
    first.reclaimed = second.reclaimed = true;
    // It runs again, and one of its ends is reported twice.
    const auto lines =
        usage_of({run("a", "p", 9, std::nullopt, true), first, second, first}, at(0), at(12));
    ASSERT_EQ(lines.size(), 1U);
    EXPECT_EQ(lines[0].servers, 3);
    EXPECT_EQ(lines[0].reclaimed, 2);
    EXPECT_DOUBLE_EQ(lines[0].hours, 2 + 1 + 3);
}

TEST(Usage, AnEvictionIsOfTheRunThatItEnded) {
    // Its owner shelved it once; then the reaper did. The journal knows its creation alone.
    ServerRun killed = run("a", "p", 0, 9, true);
    killed.reclaimed = true;
    const auto lines = usage_of({run("a", "p", 0, 4), run("a", "p", 6, 8), killed}, at(0), at(12));
    ASSERT_EQ(lines.size(), 2U);
    EXPECT_DOUBLE_EQ(lines[0].hours, 4);
    EXPECT_EQ(lines[1].reclaimed, 1);
    EXPECT_DOUBLE_EQ(lines[1].hours, 2);
}

TEST(Usage, OneThatGoesOnAfterTheTimeWasNotReclaimedWithinIt) {
    ServerRun killed = run("a", "p", 0, 8, true);
    killed.reclaimed = true;
    const auto lines = usage_of({killed}, at(0), at(4));
    ASSERT_EQ(lines.size(), 1U);
    EXPECT_EQ(lines[0].reclaimed, 0);
    EXPECT_DOUBLE_EQ(lines[0].hours, 4);
}

TEST(Usage, AServerThatEndedInTheSecondOfItsLaunchIsCountedWithoutHours) {
    const auto lines = usage_of({run("a", "p", 2, 2)}, at(0), at(24));
    ASSERT_EQ(lines.size(), 1U);
    EXPECT_EQ(lines[0].servers, 1);
    EXPECT_DOUBLE_EQ(lines[0].hours, 0);
}

TEST(Usage, OfNothingIsNothing) {
    EXPECT_TRUE(usage_of({}, at(0), at(24)).empty());
    EXPECT_TRUE(usage_of({run("a", "p", 0, 3)}, at(5), at(5)).empty());
}

TEST(UsagePeriod, ASpanCountsFromNow) {
    const TimePoint now = at(240);
    const auto is = [](const UsagePeriod& period, TimePoint from, TimePoint to) {
        EXPECT_EQ(period.from, from);
        EXPECT_EQ(period.to, to);
    };
    is(usage_period({}, hours{216}, at(48), now), at(24), at(48));
    is(usage_period({}, hours{24}, {}, now), at(216), now);
    is(usage_period(at(1), {}, {}, now), at(1), now);
    is(usage_period(at(1), hours{24}, at(48), now), at(1), at(48));
    // This month; the month that ends then; nothing is reported of the future.
    is(usage_period({}, {}, {}, now), midnight, now);
    is(usage_period({}, {}, midnight, now), midnight - hours{31 * 24}, midnight);
    is(usage_period({}, {}, now + hours{1}, now), midnight, now);
}

}  // namespace
}  // namespace reaper::usage_test

// How likely evictions are, by who ran when.
#include "reaper/report/risk.hpp"

#include <chrono>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <numeric>
#include <stdexcept>

#include "reaper/report/json.hpp"

namespace reaper::risk_test {
namespace {

using namespace report;
using std::chrono::days;
using std::chrono::hours;
using std::chrono::minutes;
using ::testing::DoubleNear;
using ::testing::Each;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// A Monday, 00:00 UTC.
const TimePoint monday{std::chrono::sys_days{std::chrono::year{2026} / 11 / 2}};
const HostPlaces places{{"h1", {"az1", {"fast", "rack-1"}}}, {"h2", {"az2", {}}}};

ServerRun run(const std::string& id, TimePoint from, std::optional<TimePoint> until,
              const std::string& host = "h1", bool reclaimed = false) {
    return {ServerId{id}, ProjectId{"spot"}, {}, from, until, true, reclaimed, "small", host};
}

RiskReport report_of(const std::vector<ServerRun>& runs, Duration span, const RiskOf& only = {}) {
    RiskSum sum{monday, monday + span, only, places};
    for (const auto& each : runs) sum.add(each);
    return sum.report();
}

const RiskLine& line_of(const RiskReport& risk, const std::string& of, const std::string& name) {
    for (const auto& line : risk.lines)
        if (line.of == of && line.name == name) return line;
    throw std::runtime_error("no line of " + of + " " + name);
}

TEST(Risk, CountsEvictionsAndHoursOfEachGroup) {
    ServerRun regular = run("web", monday, std::nullopt);
    regular.revocable = false;
    ServerRun elsewhere = run("gone-host", monday, monday + hours{10}, "unknown", true);
    elsewhere.flavor = "large";
    const std::vector<ServerRun> runs{
        run("a", monday - days{3}, std::nullopt),
        run("b", monday, monday + hours{50}, "h1", true),
        run("c", monday + hours{10}, monday + hours{20}, "h2"),
        run("before", monday - hours{9}, monday - hours{1}, "h1", true),
        elsewhere,
        regular};
    const RiskReport risk = report_of(runs, hours{100});
    EXPECT_EQ(risk.lines.front().of, "all");
    EXPECT_EQ(line_of(risk, "all", "").hours, 170);
    EXPECT_EQ(line_of(risk, "all", "").evictions, 2);
    EXPECT_EQ(line_of(risk, "flavor", "large").per_100_hours, 10);
    EXPECT_EQ(line_of(risk, "zone", "az1").evictions, 1);
    EXPECT_EQ(line_of(risk, "aggregate", "rack-1").hours, 150);
    EXPECT_EQ(line_of(risk, "zone", "az2").per_100_hours, 0);
    EXPECT_THAT(risk.lines, SizeIs(7));
    EXPECT_EQ(report_of(runs, hours{100}, {"small", "az2", ""}).lines[0].hours, 10);
    EXPECT_EQ(report_of(runs, hours{100}, {"", "", "fast"}).lines[0].evictions, 1);
    EXPECT_THAT(report_of(runs, hours{100}, {"none", "", ""}).lines, IsEmpty());
}

/// As tables of Garwood's interval have it.
TEST(Risk, TheIntervalIsThatOfARateOfSoManyEvents) {
    for (const auto& [events, low, high] :
         {std::tuple{0, 0.0, 3.689}, {1, 0.0253, 5.572}, {10, 4.795, 18.39}, {100, 81.36, 121.6}}) {
        std::vector<ServerRun> runs{run("stays", monday, std::nullopt)};
        for (int i = 0; i < events; ++i)
            runs.push_back(run(std::to_string(i), monday, monday, "h1", true));
        const RiskLine all = report_of(runs, hours{100}).lines[0];
        EXPECT_EQ(all.evictions, events);
        EXPECT_NEAR(all.low, low, 0.001 * low) << events;
        EXPECT_NEAR(all.high, high, 0.001 * high) << events;
    }
}

TEST(Risk, EachHourOfTheWeekHasItsOwnTimeAndEvictions) {
    std::vector<ServerRun> runs;
    for (int i = 0; i < 1000; ++i)
        runs.push_back(run("stays-" + std::to_string(i), monday, std::nullopt));
    for (int i = 0; i < 100; ++i)
        runs.push_back(run(std::to_string(i), monday + hours{24} + minutes{30},
                           monday + hours{33} + minutes{15}, "h1", true));
    const RiskReport risk = report_of(runs, days{7});
    ASSERT_THAT(risk.by_hour, SizeIs(hours_of_week));
    const double rate = 100.0 / (1000 * 168 + 100 * 8.75);
    const auto expected = [&](double evictions, double of_hours) {
        return 100 * (evictions + 1) / (of_hours + 1 / rate);
    };
    EXPECT_THAT(risk.by_hour[33], DoubleNear(expected(100, 1025), 1e-9)) << "Tuesday, from 09:00";
    EXPECT_THAT(risk.by_hour[24], DoubleNear(expected(0, 1050), 1e-9));
    EXPECT_THAT(risk.by_hour[32], DoubleNear(expected(0, 1100), 1e-9));
    EXPECT_THAT(risk.by_hour[34], DoubleNear(expected(0, 1000), 1e-9));
    EXPECT_FALSE(risk.judged);
    EXPECT_THAT(report_of({run("stays", monday, std::nullopt)}, days{7}).by_hour, IsEmpty());
}

/// Weeks in which servers go on Monday mornings, or at any time.
std::vector<ServerRun> weeks(bool on_mondays) {
    std::vector<ServerRun> runs;
    for (int i = 0; i < 200; ++i)
        runs.push_back(run("stays-" + std::to_string(i), monday, std::nullopt));
    for (int week = 0; week < 4; ++week)
        for (int i = 0; i < 84; ++i) {
            const TimePoint at =
                monday + days{7 * week} + (on_mondays ? hours{9} + minutes{i % 50} : hours{2 * i});
            runs.push_back(
                run(std::to_string(week) + "-" + std::to_string(i), at - hours{1}, at, "h1", true));
        }
    return runs;
}

TEST(Risk, TheHourIsJudgedByWhatItKnewBeforeTheLastWeek) {
    const auto regular = report_of(weeks(true), days{28}).judged;
    ASSERT_TRUE(regular);
    EXPECT_NEAR(regular->hours, 200 * 168 + 84, 1e-6);
    EXPECT_LT(regular->brier, 0.9 * regular->brier_of_average);
    const auto any_time = report_of(weeks(false), days{28}).judged;
    ASSERT_TRUE(any_time);
    EXPECT_NEAR(any_time->brier, any_time->brier_of_average, 0.01 * any_time->brier_of_average);
}

TEST(Risk, IsTheSameAfterJson) {
    const RiskReport risk = report_of(weeks(true), days{28});
    const auto read = risk_from_json(to_json(risk));
    ASSERT_TRUE(read) << read.error().what;
    EXPECT_EQ(to_json(*read), to_json(risk));
    EXPECT_FALSE(risk_from_json({{"version", json_version}}));
    const auto none = risk_from_json(to_json(report_of({}, hours{1})));
    ASSERT_TRUE(none);
    EXPECT_FALSE(none->judged);
}

}  // namespace
}  // namespace reaper::risk_test

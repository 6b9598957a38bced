#include "reaper/model/time.hpp"

#include <gtest/gtest.h>

namespace reaper::time_test {
namespace {

using namespace std::chrono;

const TimePoint base = sys_days(2026y / November / 20d) + 13h + 7min + 19s;

TEST(TimeText, ComesBackToTheMillisecond) {
    for (const int offset : {0, 1, 999, -1, 86'399'999})
        EXPECT_EQ(parse_time(iso_time(TimePoint{Duration{offset}})), TimePoint{Duration{offset}});
    EXPECT_EQ(iso_time(base + 7ms), "2026-11-20T13:07:19.007Z");
    EXPECT_EQ(iso_time(TimePoint{}), "1970-01-01T00:00:00.000Z");
    EXPECT_EQ(iso_time(TimePoint{Duration{-1}}), "1969-12-31T23:59:59.999Z");
}

TEST(TimeText, ReadsTheFormsOfOpenStackAndOurOwn) {
    EXPECT_EQ(parse_time("2026-11-20 13:07:19"), base);
    EXPECT_EQ(parse_time("2026-11-20 13:07:19.426801"), base + 426ms);
    EXPECT_EQ(parse_time("2026-11-20T13:07:19.4"), base + 400ms);
    EXPECT_EQ(parse_time("2026-11-20T13:07:19Z"), base);
    EXPECT_EQ(parse_time("2026-11-20T13:07:19.05Z"), base + 50ms);
    EXPECT_EQ(parse_time("2026-11-20T13:07:19.123456789Z"), base + 123ms);
    EXPECT_EQ(parse_time("2026-11-20T13:07:19+00:00"), base);
    EXPECT_EQ(parse_time("2026-11-20T15:07:19+02:00"), base);
    EXPECT_EQ(parse_time("2026-11-20T12:37:19.000-00:30"), base);
    EXPECT_TRUE(parse_time("2028-02-29 00:00:00"));
}

TEST(TimeText, RefusesEverythingElse) {
    for (const char* text : {"",
                             "Z",
                             "2026",
                             "2026-11-20",
                             "2026-11-20 13:07",
                             "2026-02-29 00:00:00",
                             "2026-13-01 00:00:00",
                             "2026-00-01 00:00:00",
                             "2026-01-00 00:00:00",
                             "2026-11-20 24:00:00",
                             "2026-11-20 13:60:00",
                             "2026-11-20 13:07:60",
                             "2026-11-20 13:07:19.",
                             "2026-11-20 13:07:19.Z",
                             "2026-11-20 13:07:19.12xZ",
                             "2026-11-20 13:07:19.1234567890",
                             "2026-11-20_13:07:19",
                             "2026-11-20 13:07:19 ",
                             " 2026-11-20 13:07:19",
                             "2026-11-20 13:07:19ZZ",
                             "2026-11-20 13:07:19+00:00Z",
                             "2026-11-20 13:07:19+2",
                             "2026-11-20 13:07:19+02",
                             "2026-1-20 13:07:19",
                             "+026-11-20 13:07:19",
                             "-026-11-20 13:07:19",
                             "2026-11-20 13:07:-9",
                             "20261120T130719"})
        EXPECT_FALSE(parse_time(text)) << text;
}

TEST(TimeText, ADateAloneIsMidnight) {
    EXPECT_EQ(parse_time_or_date("2026-11-20"), TimePoint{sys_days(2026y / November / 20d)});
    EXPECT_EQ(parse_time_or_date("2026-11-20T13:07:19"), base);
    EXPECT_EQ(parse_time_or_date("2026-11-20T13:07:19Z"), base);
    for (const char* text : {"", "2026-11-31", "2026-11-2", "2026-11-20Z", "yesterday!"})
        EXPECT_FALSE(parse_time_or_date(text)) << text;
}

TEST(TimeText, DurationsHaveTwoUnits) {
    EXPECT_EQ(format_duration(0ms), "0ms");
    EXPECT_EQ(format_duration(850ms), "850ms");
    EXPECT_EQ(format_duration(12'345ms), "12s");
    EXPECT_EQ(format_duration(185s), "3min 5s");
    EXPECT_EQ(format_duration(2h), "2h");
    EXPECT_EQ(format_duration(24h * 41 + 3h), "41d 3h");
    EXPECT_EQ(format_duration(24h + 59min), "1d");
    EXPECT_EQ(format_duration(-2s), "-2s");
}

TEST(TimeText, DurationsOfSettingsComeBack) {
    for (const char* text : {"0s", "500ms", "90s", "5min", "2h", "87600h"})
        EXPECT_EQ(exact_duration(parse_duration(text).value_or(-1ms)), text);
    EXPECT_EQ(parse_duration("120s"), 2min);
    EXPECT_EQ(parse_duration("2d"), 48h);
    for (const char* text :
         {"", "5", "s", "-5s", "5 s", "1.5h", "5m", "87601h", "3651d", "9999999999h"})
        EXPECT_EQ(parse_duration(text), std::nullopt) << text;
}

}  // namespace
}  // namespace reaper::time_test

#include <gtest/gtest.h>

#include "reaper/report/table.hpp"
#include "reaper/report/usage.hpp"

namespace reaper::report::usage_report_test {
namespace {

UsageReport example() {
    UsageReport usage;
    usage.from = TimePoint{std::chrono::sys_days{std::chrono::year{2026} / 11 / 1}};
    usage.to = usage.from + std::chrono::hours{36};
    UsageLine regular;
    regular.project = ProjectId{"p,1"};
    regular.project_name = "web";
    regular.servers = 2;
    regular.hours = 1.5;
    regular.resource_hours = {{ResourceClass{"MEMORY_MB"}, 1024.0}, {ResourceClass{"VCPU"}, 3.25}};
    UsageLine revocable;
    revocable.project = ProjectId{"=cmd()"};
    revocable.revocable = true;
    revocable.servers = revocable.reclaimed = 1;
    revocable.hours = 0.25;
    revocable.resource_hours = {{ResourceClass{"CUSTOM_PREEMPTIBLE"}, 0.25}};
    usage.lines = {regular, revocable};
    return usage;
}

TEST(UsageReport, AsCsvHasAColumnForEachClassAndNoFormulas) {
    EXPECT_EQ(table_csv(usage_table(example())),
              "project,type,servers,reclaimed,hours,VCPU_hours,MEMORY_MB_hours,"
              "CUSTOM_PREEMPTIBLE_hours,project_id\r\n"
              "web,regular,2,0,1.500,3.250,1024.000,0.000,\"p,1\"\r\n"
              "'=cmd(),revocable,1,1,0.250,0.000,0.000,0.250,'=cmd()\r\n");
}

TEST(UsageReport, AsJsonTellsTheTimeAndTheTypes) {
    const auto json = to_json(example());
    EXPECT_EQ(json["version"], 2);
    EXPECT_EQ(json["from"], "2026-11-01T00:00:00.000Z");
    EXPECT_EQ(json["to"], "2026-11-02T12:00:00.000Z");
    EXPECT_EQ(json["usage"][0]["type"], "regular");
    EXPECT_EQ(json["usage"][0]["project"], "p,1");
    EXPECT_EQ(json["usage"][0]["project_name"], "web");
    EXPECT_FALSE(json["usage"][1].contains("project_name"));
    EXPECT_EQ(json["usage"][1]["type"], "revocable");
    EXPECT_EQ(json["usage"][1]["reclaimed"], 1);
    EXPECT_EQ(json["usage"][0]["resource_hours"]["VCPU"], 3.25);
    EXPECT_EQ(json["oversubscribed"], nlohmann::json::object());
}

TEST(UsageReport, TellsWhatIsOversubscribedNow) {
    UsageReport usage = example();
    const ResourceClass room{"CUSTOM_REVOCABLE_VCPU"};
    usage.oversubscribed[room] = {6, 4, 2, 1};
    EXPECT_EQ(usage_table(usage).summary,
              "Oversubscribed now: CUSTOM_REVOCABLE_VCPU: 6 published on 1 host, 4 used, 2 free");
    EXPECT_EQ(to_json(usage)["oversubscribed"][room.str()]["wanted"], nullptr);
    usage.oversubscribed[room].wanted = 9;
    EXPECT_EQ(usage_table(usage).summary,
              "Oversubscribed now: CUSTOM_REVOCABLE_VCPU: 6 published on 1 host, 4 used, 2 free, 9 "
              "wanted");
    EXPECT_EQ(to_json(usage)["oversubscribed"][room.str()]["wanted"], 9);
}

TEST(UsageReport, FromJsonItIsTheSame) {
    const auto again = usage_from_json(to_json(example()));
    ASSERT_TRUE(again) << again.error().what;
    EXPECT_EQ(again->from, example().from);
    EXPECT_EQ(again->to, example().to);
    EXPECT_EQ(again->lines, example().lines);
    auto wrong = to_json(example());
    wrong["usage"][0]["type"] = "both";
    const auto refused = usage_from_json(wrong);
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().what.find("usage[0].type"), std::string::npos)
        << refused.error().what;
}

TEST(UsageReport, AsATableForPeople) {
    const std::string text = table_text(usage_table(example()), 80, Paint{false});
    EXPECT_EQ(text,
              "From 2026-11-01T00:00:00.000Z to 2026-11-02T12:00:00.000Z\n"
              "PROJECT  TYPE       SERVERS  RECLAIMED  HOURS  VCPU_HOURS  MEMORY_MB_HOURS\n"
              "web      regular          2          0    1.5         3.2           1024.0\n"
              "    custom_preemptible_hours 0.0\n"
              "=cmd()   revocable        1          1    0.2         0.0              0.0\n"
              "    custom_preemptible_hours 0.2\n");
    UsageReport nothing = example();
    nothing.lines.clear();
    EXPECT_EQ(table_text(usage_table(nothing), 100, Paint{false}),
              "From 2026-11-01T00:00:00.000Z to 2026-11-02T12:00:00.000Z\nNothing ran.\n");
    EXPECT_EQ(table_csv(usage_table(nothing)),
              "project,type,servers,reclaimed,hours,project_id\r\n");
}

}  // namespace
}  // namespace reaper::report::usage_report_test

// What a replay shows.
#include "reaper/recording/replay_report.hpp"

#include <gmock/gmock.h>

#include "reaper/recording/week.hpp"
#include "reaper/report/table.hpp"
#include "recording/recorded_cloud.hpp"

namespace reaper::recording::test::replay_report_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const TimePoint monday{std::chrono::sys_days{std::chrono::year{2026} / 11 / 23}};

Decision plan_of(const std::vector<std::string>& victims, const std::string& project = "spot",
                 Duration age = std::chrono::hours{2}) {
    Plan plan;
    plan.slots_requested = plan.slots_freed = 1;
    HostPlan host;
    host.host = HostId{"h"};
    host.host_name = "rack-1";
    host.slots = 1;
    for (const std::string& name : victims) {
        Victim victim;
        victim.server = ServerId{name};
        victim.name = name;
        victim.project = ProjectId{project};
        victim.resources = {{"VCPU", 3}};
        victim.created = monday - age;
        host.victims.push_back(victim);
    }
    plan.hosts = {host};
    return plan;
}

Decision too_little(std::string safeguard = "") {
    NotEnough answer;
    answer.safeguard = std::move(safeguard);
    return answer;
}

ReplayedRequest request(const std::string& id, Decision recorded, Decision asked,
                        Duration after = {}) {
    ReplayedRequest one;
    one.request.id = RequestId{id};
    one.request.project = ProjectId{"regular"};
    one.at = monday + after;
    one.surely = true;
    const auto choice = [](Decision decision) {
        Choice made{std::move(decision)};
        if (const auto* plan = std::get_if<Plan>(&made.decision)) {
            made.lost_hours = 2.0 * static_cast<double>(plan->victims().size());
            made.lost_vcpu_hours = 3 * made.lost_hours;
        }
        return made;
    };
    one.recorded = choice(std::move(recorded));
    one.asked = choice(std::move(asked));
    return one;
}

Replay example() {
    Replay replay;
    replay.begins = monday - std::chrono::days{6};
    replay.from = monday;
    replay.to = monday + std::chrono::hours{30};
    replay.requests = {
        request("req-1", plan_of({"a"}), plan_of({"b", "c"})),
        request("req-2", NothingToDo{}, NothingToDo{}, std::chrono::hours{1}),
        request("req-3", plan_of({"d"}), too_little("limit-window"), std::chrono::hours{29}),
        request("req-4", Refused{"why"}, Refused{"why"}, std::chrono::hours{30})};
    replay.checked = 3;
    replay.reproduced = 2;
    return replay;
}

TEST(ReplaySums, CountEachDayAndAll) {
    const auto days = by_day(example());
    ASSERT_EQ(days.size(), 2U);
    const BothSums first = days.begin()->second;
    EXPECT_EQ(first.recorded.requests, 2);
    EXPECT_EQ(first.recorded.helped, 2);
    EXPECT_EQ(first.recorded.victims, 1);
    EXPECT_EQ(first.asked.victims, 2);
    const BothSums all = in_all(example());
    EXPECT_EQ(all.recorded.helped, 3);
    EXPECT_EQ(all.asked.helped, 2);
    EXPECT_EQ(all.asked.not_helped(), 1);
    EXPECT_EQ(all.asked.refused, 1);
    EXPECT_EQ(all.asked.safeguards.at("limit-window"), 1);
    EXPECT_DOUBLE_EQ(all.recorded.lost_hours, 4);
    EXPECT_DOUBLE_EQ(all.asked.lost_vcpu_hours, 12);
}

TEST(ReplayReport, TellsWhatDiffers) {
    report::RenderOptions options;
    options.width = 160;
    const std::string text =
        render_replay(example(), {"dir", "strategy cost", "strategy x"}, options);
    for (const char* part :
         {"4 requests", "3 -> 2 (-1)", "4.0", "2026-11-23", "2026-11-24",
          "limit-window 0 -> 1 (+1)", "2 requests would be decided otherwise", "req-1", "req-3",
          "1 victim on rack-1, 2.0 h", "makes 2 of 3 recorded plans again", "0 -> 1 (+1)        1"})
        EXPECT_THAT(text, HasSubstr(part));
    EXPECT_THAT(text, Not(HasSubstr("req-2")));
    const auto json = to_json(example(), {"dir", "a", "b"});
    EXPECT_EQ(json["asked"]["victims"], 2);
    EXPECT_EQ(json["requests"][0]["asked"]["victims"].size(), 2U);
    EXPECT_EQ(json["requests"][0]["differs"], true);
    EXPECT_EQ(json["requests"][1]["differs"], false);
    EXPECT_EQ(json["days"].size(), 2U);
}

TEST(ReplayReport, AnEmptyOneIsReported) {
    const std::string text = render_replay({}, {"dir", "a", "b"}, {});
    EXPECT_THAT(text, HasSubstr("0 requests"));
    EXPECT_TRUE(replay_table({}).rows.empty());
}

TEST(ReplayTable, SumsBothSidesUpRequestByRequest) {
    EXPECT_EQ(report::table_csv(replay_table(example())),
              "time,request,victims_recorded,victims_asked,lost_hours_recorded,lost_hours_asked\r\n"
              "2026-11-23T00:00:00.000Z,req-1,1,2,2.000,4.000\r\n"
              "2026-11-23T01:00:00.000Z,req-2,1,2,2.000,4.000\r\n"
              "2026-11-24T05:00:00.000Z,req-3,2,2,4.000,4.000\r\n"
              "2026-11-24T06:00:00.000Z,req-4,2,2,4.000,4.000\r\n");
}

TEST(Week, SaysWhatSwitchingOnMeansAndWhatStandsAgainstIt) {
    WeekInput input = week_of(example());
    input.source = "recording dir";
    input.since = monday - std::chrono::days{1};
    input.until = monday + std::chrono::days{6};
    input.policy = config::standard_policy();
    LimitSettings& limits = input.policy->safeguards.limits;
    limits.victims_per_request = limits.share_per_request = limits.share_per_requester = 0;
    const WeekReport week = report_week(std::move(input));
    EXPECT_EQ(week.helped, 2);
    EXPECT_EQ(week.there, 1);
    EXPECT_EQ(week.refused, 1);
    EXPECT_EQ(week.victims, 2);
    EXPECT_EQ(week.projects.at(ProjectId{"spot"}).victims, 2);
    const std::string text = render_week(week, {});
    for (const char* part : {"refused by Nova (4 build)", "2 servers would have been deleted",
                             "no limit is set", "only 2 again", "dry run"})
        EXPECT_THAT(text, HasSubstr(part));
    EXPECT_EQ(to_json(week)["would_help"]["by_deleting"], 2);
}

TEST(Week, AStaleApprovedPlanIsHeldBackByASafeguard) {
    const Decision stale = Refused{"the approved plan is stale", "stale-plan"};
    Replay replay;
    replay.requests = {request("req-1", stale, stale),
                       request("req-2", Refused{"why"}, Refused{"why"})};
    WeekInput input = week_of(replay);
    input.since = monday;
    input.until = monday + std::chrono::days{1};
    const WeekReport week = report_week(std::move(input));
    EXPECT_EQ(week.held_back.at("stale-plan"), 1);
    EXPECT_EQ(week.refused, 1);
    EXPECT_EQ(week.no_room, 0);
    EXPECT_THAT(render_week(week, {}), HasSubstr("held back by safeguards: 1 stale-plan"));
    EXPECT_EQ(in_all(replay).asked.safeguards.at("stale-plan"), 1);
}

TEST(Week, WhereARecordingTellsOfVictimsItSaysWhyTheJournalMayTellOfOthers) {
    const auto text_of = [](bool recorded) {
        WeekInput input = week_of(example());
        input.recorded = recorded;
        input.since = monday;
        input.until = monday + std::chrono::days{6};
        return render_week(report_week(std::move(input)), {});
    };
    EXPECT_THAT(text_of(true), HasSubstr("no server goes twice"));
    EXPECT_THAT(text_of(false), Not(HasSubstr("no server goes twice")));
}

/// A journal of a daemon that deletes has no "would have".
TEST(Week, RealDeletionsAreReportedAsSuch) {
    const auto text_of = [](bool happened) {
        WeekInput input = week_of(example());
        input.recorded = !happened;
        input.dry_run = !happened;
        input.since = monday;
        input.until = monday + std::chrono::days{6};
        return render_week(report_week(std::move(input)), {});
    };
    EXPECT_THAT(text_of(true), ::testing::StartsWith("What happened, "));
    EXPECT_THAT(text_of(true), Not(HasSubstr("would have been")));
    EXPECT_THAT(text_of(false), HasSubstr("would have been"));
}

TEST(Week, WhatIsOutsideOfTheTimeIsLeftOut) {
    WeekInput input = week_of(example());
    input.since = monday + std::chrono::hours{2};
    input.until = monday + std::chrono::hours{30};
    input.begins = monday + std::chrono::hours{28};
    const WeekReport week = report_week(std::move(input));
    EXPECT_EQ(week.input.requests.size(), 1U);
    EXPECT_THAT(render_week(week, {}), HasSubstr("later than asked for"));
}

TEST(Week, OneProjectThatBearsItAllAndAnOpenBreakerAreDoubts) {
    Replay replay;
    replay.dry_run = false;
    for (int i = 0; i < 3; ++i) {
        const std::string n = std::to_string(i);
        const Decision decision = plan_of({"a" + n, "b" + n}, "unlucky", std::chrono::minutes{5});
        replay.requests.push_back(request("req-" + n, decision, decision));
    }
    const Decision other = plan_of({"z"}, "lucky");
    replay.requests.push_back(request("req-z", other, other));
    replay.requests.push_back(
        request("req-b", too_little("project-breaker"), too_little("project-breaker")));
    replay.requests.back().outcome = Outcome{OutcomeKind::failed, "Nova \x1b is away", monday, ""};
    WeekInput input = week_of(replay);
    input.since = monday;
    input.until = monday + std::chrono::days{1};
    input.policy = config::standard_policy();
    const std::string text = render_week(report_week(std::move(input)), {});
    for (const char* part : {"project unlucky bears 6 of 7", "a circuit breaker was open",
                             "6 victims would have run less than an hour", "1 request failed"})
        EXPECT_THAT(text, HasSubstr(part));
    EXPECT_THAT(text, Not(HasSubstr("\x1b")));
}

TEST(Week, WhatAnOperatorAskedForIsNoRefusalOfNovas) {
    Replay replay = example();
    replay.requests[0].request.source = RequestSource::operator_;
    replay.requests[0].request.operation = Operation::manual;
    replay.requests[1].request.source = RequestSource::gateway;
    WeekInput input = week_of(replay);
    input.since = monday;
    input.until = monday + std::chrono::days{6};
    const WeekReport week = report_week(std::move(input));
    const std::string text = render_week(week, {});
    EXPECT_THAT(text, HasSubstr("3  refused by Nova (3 build)"));
    EXPECT_THAT(text, HasSubstr("1  asked for by an operator"));
    EXPECT_THAT(text, HasSubstr("4  in all:"));
    const auto json = to_json(week);
    EXPECT_EQ(json["requests"], 4);
    EXPECT_EQ(json["refused_by_nova"], 3);
    EXPECT_EQ(json["asked_by_operators"], 1);
}

TEST(Week, ProjectsHaveTheirNamesBesideTheirIds) {
    Replay replay;
    Decision decision = plan_of({"a"});
    std::get<Plan>(decision).hosts[0].victims[0].project_name = "night";
    replay.requests = {request("req-1", decision, too_little())};
    replay.requests[0].request.project_name = "web";
    const std::string differences = render_replay(replay, {"dir", "a", "b"}, {});
    EXPECT_THAT(differences, HasSubstr("web (regular)"));
    const auto replayed = to_json(replay, {"dir", "a", "b"});
    EXPECT_EQ(replayed["requests"][0]["project_name"], "web");
    EXPECT_EQ(replayed["requests"][0]["recorded"]["victims"][0]["project_name"], "night");
    WeekInput input = week_of(replay);
    input.since = monday;
    input.until = monday + std::chrono::days{1};
    const WeekReport week = report_week(std::move(input));
    EXPECT_THAT(render_week(week, {}), HasSubstr("night (spot)"));
    EXPECT_EQ(to_json(week)["projects"][0]["project_name"], "night");
    EXPECT_EQ(to_json(week)["projects"][0]["project"], "spot");
}

/// A record of a plan with so many victims on a host with as many that stay.
RequestRecord planned(const std::string& id, int victims, Duration after,
                      const std::string& project = "regular") {
    std::vector<std::string> names;
    for (int i = 0; i < victims; ++i) names.push_back(id + "-" + std::to_string(i));
    RequestRecord record;
    record.request.id = RequestId{id};
    record.request.project = ProjectId{project};
    record.received_at = monday + after;
    Decision decision = plan_of(names);
    auto& host = std::get<Plan>(decision).hosts[0];
    host.host = HostId{"host-of-" + id};
    host.spared_in_all = victims;
    record.plans.push_back({1, record.received_at, std::move(decision)});
    return record;
}

WeekReport dry_week(const std::vector<RequestRecord>& records) {
    WeekInput input = week_of(records);
    input.since = monday;
    input.until = monday + std::chrono::days{1};
    return report_week(std::move(input));
}

TEST(Week, TellsWhatTheLimitsWouldHaveStopped) {
    using namespace std::chrono_literals;
    const WeekReport week =
        dry_week({planned("req-1", 40, 0h), planned("req-2", 120, 1min), planned("req-3", 60, 2min),
                  planned("req-4", 30, 3min), planned("req-5", 90, 4min),
                  planned("req-6", 40, 5min), planned("req-7", 50, 6min, "another")});
    EXPECT_EQ(week.stopped.revocable, 860);
    EXPECT_EQ(week.stopped.requests, (std::map<std::string, int>{{"limit-request", 1}}));
    EXPECT_EQ(week.stopped.victims, 120);
    EXPECT_EQ(week.stopped.largest, 120);
    const std::string text = render_week(week, {});
    EXPECT_THAT(text,
                HasSubstr("The limits in force would have stopped: 1 limit-request, with 120"));
    EXPECT_THAT(text, HasSubstr("860 revocable servers"));
    EXPECT_EQ(to_json(week)["stopped_by_limits"]["requests"]["limit-request"], 1);

    const WeekReport small =
        dry_week({planned("req-1", 30, 0h), planned("req-2", 30, 1min), planned("req-3", 30, 2min),
                  planned("req-4", 20, 2h), planned("req-5", 20, 2min, "another")});
    // Of the first two together half of 120 and 60 is what one project may have deleted.
    EXPECT_EQ(small.stopped.requests.count("limit-request"), 0U);
    EXPECT_EQ(small.stopped.revocable, 260);

    WeekInput input =
        week_of(std::vector<RequestRecord>{planned("req-1", 3, 0h), planned("req-2", 3, 1min)});
    input.since = monday;
    input.until = monday + std::chrono::days{1};
    input.limits.share_least = 5;
    input.limits.share_per_requester = 10;
    const WeekReport tight = report_week(std::move(input));
    EXPECT_EQ(tight.stopped.requests, (std::map<std::string, int>{{"limit-requester", 1}}));
    EXPECT_THAT(render_week(dry_week({planned("req-1", 3, 0h)}), {}),
                HasSubstr("would have stopped none of these (the largest: 3 victims)"));
}

TEST(Week, TheJournalTellsWhatWasPlanned) {
    RequestRecord record;
    record.request.id = RequestId{"req-1"};
    record.received_at = monday;
    record.plans.push_back({1, monday, plan_of({"a"})});
    RequestRecord paused = record;
    paused.request.id = RequestId{"req-2"};
    paused.plans.clear();
    paused.outcome = Outcome{OutcomeKind::refused, "paused", monday, "paused"};
    WeekInput input = week_of(std::vector<RequestRecord>{record, paused});
    input.since = monday;
    input.until = monday + std::chrono::days{1};
    const WeekReport week = report_week(std::move(input));
    EXPECT_EQ(week.helped, 1);
    EXPECT_EQ(week.unknown, 1);
    EXPECT_DOUBLE_EQ(week.lost_hours, 2);
    EXPECT_THAT(render_week(week, {}), HasSubstr("record.directory"));
}

}  // namespace
}  // namespace reaper::recording::test::replay_report_test

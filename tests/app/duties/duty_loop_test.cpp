// Servers that end although no request waits: a watermark, and life spans.
#include "reaper/controllers/duties/duty_loop.hpp"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/lending_house.hpp"
#include "tests/support/log_capture.hpp"

namespace reaper::test::duty_loop_test {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

class DutyLoopTest : public FullHouse {
protected:
    DutyLoopTest() {
        with_events = true;
        settings.policy.duties.life_span.jitter = Duration{0};
    }
    /// Of 16 VCPU 14 are used, 8 of them by revocable servers; host1d is the
    /// newest of these.
    void used_house() {
        full_host();
        cloud.add_host("host2", small * 4);
        for (const char* const id : {"host2a", "host2b", "host2c"})
            cloud.add_server(id, "host2", "regular", small);
        runs_since("host1b", minutes{50});
        runs_since("host1c", minutes{40});
        runs_since("host1d", minutes{30});
    }
    void keep_free(int high, int low) {
        settings.policy.duties.watermark.marks = {{ResourceClass{"VCPU"}, high, low}};
    }
    void runs_since(const std::string& id, Duration ago) {
        cloud.server_at(id).record.server.created = clock.now() - ago;
    }
    std::size_t deleted() const { return cloud.count("DELETE"); }
    /// Each server that went had notice for its whole period.
    void expect_notice_of(Duration period) const {
        for (const RequestRecord& each : corrections())
            for (const StepEntry& sent : each.steps) {
                if (sent.step != Step::delete_sent) continue;
                const auto told = std::ranges::find_if(each.steps, [&](const StepEntry& step) {
                    return step.step == Step::notified && step.server == sent.server;
                });
                ASSERT_NE(told, each.steps.end()) << sent.server.str();
                EXPECT_GE(sent.at, told->at + period) << sent.server.str();
            }
    }
    std::vector<RequestRecord> corrections() const {
        std::vector<RequestRecord> all;
        for (const auto& [id, each] : journal.records)
            if (each.request.correction) all.push_back(each);
        return all;
    }
};

TEST_F(DutyLoopTest, AboveTheHighMarkTheNewestRevocableServersGoDownToTheLowOne) {
    used_house();
    keep_free(80, 60);
    const LogCapture log;
    start();
    run_until([&] { return deleted() == 3; });
    pass(hours{1});
    EXPECT_EQ(deleted(), 3U) << "8 of 16 are used";
    EXPECT_THAT(cloud.living("host1"), UnorderedElementsAre("host1a"));
    EXPECT_EQ(cloud.living("host2").size(), 3U);
    ASSERT_EQ(corrections().size(), 1U);
    const RequestRecord record = corrections().front();
    EXPECT_THAT(record.request.id.str(), StartsWith("watermark-"));
    EXPECT_EQ(record.request.source, RequestSource::watermark);
    EXPECT_EQ(record.outcome->kind, OutcomeKind::freed);
    const std::string why = "87 % of VCPU in the cloud are used (high mark 80 %, low mark 60 %)";
    EXPECT_THAT(record.request.correction->servers.front().reason, HasSubstr(why));
    EXPECT_EQ(
        log.lines_with("watermark: " + why + ": 5 VCPU must come free; 3 servers chosen").size(),
        1U)
        << log.text();
}

TEST_F(DutyLoopTest, WhatItShelvedComesBackBelowTheLowMarkOnly) {
    settings.policy.shelve = {{"all"}, "", 600};
    used_house();
    for (const char* const id : {"host1a", "host1b", "host1c", "host1d"})
        cloud.server_at(id).record.flavor = flavor_of(2);
    keep_free(80, 60);
    start();
    run_until([&] { return cloud.count("SHELVE") == 3; });
    pass(hours{1});
    EXPECT_EQ(cloud.count("UNSHELVE"), 0U) << "8 of 16 are used, 9 may be";
    cloud.remove("host2a");
    pass(hours{1});
    EXPECT_GE(cloud.count("UNSHELVE"), 1U);
    EXPECT_EQ(cloud.count("SHELVE"), 3U);
}

TEST_F(DutyLoopTest, BetweenTheMarksNothingBegins) {
    used_house();
    keep_free(88, 10);
    start();
    pass(hours{1});
    EXPECT_THAT(corrections(), IsEmpty());
}

TEST_F(DutyLoopTest, TheNextCullWaitsForTheCooldownAlsoAfterARestart) {
    used_house();
    keep_free(80, 60);
    start();
    run_until([&] { return deleted() == 3; });
    run_until([&] { return corrections().front().outcome.has_value(); });
    const TimePoint begun = corrections().front().request.sent_at;
    crash();
    for (const char* const id : {"x", "y", "z"}) cloud.add_server(id, "host1", "spot", small);
    start();
    run_until([&] { return deleted() > 3; });
    EXPECT_GE(clock.now() - begun, settings.policy.duties.watermark.cooldown);
    EXPECT_LT(clock.now() - begun, settings.policy.duties.watermark.cooldown + minutes{2});
}

TEST_F(DutyLoopTest, WhatALimitCutShortGoesOnAfterTheCooldown) {
    used_house();
    keep_free(80, 60);
    settings.policy.safeguards.limits.victims_per_request = 2;
    cloud.add_host("host3", small);
    cloud.add_server("host3a", "host3", "spot", small);
    runs_since("host3a", minutes{10});
    const LogCapture log;
    start();
    run_until([&] { return deleted() == 2; });
    pass(minutes{20});
    EXPECT_EQ(deleted(), 2U) << "12 of 18 are used, 10 may be";
    EXPECT_FALSE(cloud.exists("host3a")) << "the newest; the limit is of both hosts together";
    EXPECT_EQ(log.lines_with("2 go now (limits.victims_per_request)").size(), 1U) << log.text();
    run_until([&] { return deleted() == 3; });
    EXPECT_EQ(cloud.living("host2").size(), 3U);
}

TEST_F(DutyLoopTest, WhileTheCloudCantBeReadNothingBegins) {
    used_house();
    keep_free(80, 60);
    EXPECT_TRUE(pause.pause("until the first reading is old", "me"));
    start();
    pass(minutes{1});
    EXPECT_TRUE(pause.resume());
    cloud.on_call = [](const std::string& call) -> std::optional<Error> {
        if (call != "servers") return std::nullopt;
        return Error{Errc::unreachable, "Nova is down"};
    };
    pass(minutes{10});
    EXPECT_THAT(corrections(), IsEmpty());
    cloud.on_call = {};
    run_until([&] { return deleted() == 3; });
}

TEST_F(DutyLoopTest, AReaperThatStandsByLetsNothingEnd) {
    used_house();
    keep_free(80, 60);
    settings.policy.duties.life_span.after = minutes{10};
    start();
    messages->serves = false;
    pass(hours{1});
    EXPECT_THAT(corrections(), IsEmpty());
}

TEST_F(DutyLoopTest, WhenNoServerMayGoTheLogSaysItOnce) {
    used_house();
    keep_free(80, 60);
    cloud.tagged.clear();
    const LogCapture log;
    start();
    pass(hours{1});
    EXPECT_THAT(corrections(), IsEmpty());
    EXPECT_EQ(log.lines_with("no revocable server may go now").size(), 1U) << log.text();
}

TEST_F(DutyLoopTest, AServerEndsAtItsTimeAndAYoungerOneStays) {
    full_host();
    settings.policy.duties.life_span.after = hours{2};
    runs_since("host1c", hours{3});
    runs_since("host1b", minutes{90});
    start();
    run_until([&] { return deleted() == 1; });
    EXPECT_FALSE(cloud.exists("host1c") && deleted() == 0);
    ASSERT_EQ(corrections().size(), 1U);
    const RequestRecord record = corrections().front();
    EXPECT_THAT(record.request.id.str(), StartsWith("life-span-"));
    EXPECT_EQ(record.request.source, RequestSource::life_span);
    EXPECT_THAT(record.request.correction->servers.front().reason,
                StartsWith("its life span of 2h (that of all revocable servers) ended 1h"));
    pass(minutes{25});
    EXPECT_THAT(cloud.living("host1"), UnorderedElementsAre("host1a", "host1b", "host1d"));
    pass(minutes{10});
    EXPECT_THAT(cloud.living("host1"), UnorderedElementsAre("host1a", "host1d"));
}

TEST_F(DutyLoopTest, AServerWhoseLifeSpanIsOverHasNoticeFirst) {
    settings.policy.notice.period = minutes{2};
    full_host();
    settings.policy.duties.life_span.after = hours{2};
    runs_since("host1c", hours{3});
    start();
    run_until([&] { return deleted() == 1; });
    expect_notice_of(minutes{2});
    EXPECT_EQ(cloud.count("MARK host1c"), 1U);
}

TEST_F(DutyLoopTest, WhoGoesForTheWatermarkHasNoticeFirstAndStaysIfTheRoomIsFreeByThen) {
    settings.policy.notice.period = minutes{2};
    used_house();
    keep_free(80, 60);
    start();
    run_until([&] { return cloud.count("MARK") == 3; });
    cloud.remove("host2a");
    events->tell(ServerGone{ServerId{"host2a"}, "host2", clock.now()});
    run_until([&] { return corrections().front().outcome.has_value(); });
    EXPECT_EQ(deleted(), 2U) << "9 of 16 are used";
    EXPECT_EQ(cloud.count("UNMARK"), 1U);
    expect_notice_of(minutes{2});
}

TEST_F(DutyLoopTest, OldServersEndOneAfterTheOtherTheOldestFirst) {
    full_host();
    settings.policy.duties.life_span.after = minutes{10};
    settings.policy.duties.life_span.per_hour = 6;
    runs_since("host1b", hours{9});
    start();
    run_until([&] { return deleted() == 1; });
    EXPECT_EQ(cloud.count("DELETE host1b"), 1U);
    pass(minutes{28});
    EXPECT_EQ(deleted(), 3U);
}

TEST_F(DutyLoopTest, AFlavorsInvalidLifeSpanIsLoggedOnceAndEndsNoServer) {
    full_host();
    settings.policy.duties.life_span.after = minutes{10};
    settings.policy.duties.life_span.flavor_key = "life";
    for (const char* const id : {"host1a", "host1b", "host1c", "host1d"}) {
        Server& server = cloud.server_at(id).record.server;
        server.flavor_name = "spot.small";
        server.flavor_extra_specs = std::map<std::string, std::string>{{"life", "1 day"}};
    }
    const LogCapture log;
    start();
    pass(hours{1});
    EXPECT_THAT(corrections(), IsEmpty());
    EXPECT_EQ(log.lines_with("flavor spot.small has '1 day' as life, which is no duration").size(),
              1U)
        << log.text();
}

TEST_F(DutyLoopTest, ARestartInTheMiddleEndsNoServerTwice) {
    full_host();
    settings.policy.duties.life_span.after = minutes{10};
    start();
    run_until([&] { return deleted() > 0; });
    crash();
    start();
    run_until([&] { return cloud.living("host1").empty(); });
    pass(minutes{10});
    for (const char* const id : {"host1a", "host1b", "host1c", "host1d"})
        EXPECT_EQ(cloud.count(std::string{"DELETE "} + id), 1U) << id;
}

TEST_F(DutyLoopTest, PausedOrDryNothingEnds) {
    used_house();
    keep_free(80, 60);
    settings.policy.duties.life_span.after = minutes{10};
    EXPECT_TRUE(pause.pause("upgrade", "me"));
    start();
    pass(hours{1});
    EXPECT_THAT(corrections(), IsEmpty());
    crash();
    EXPECT_TRUE(pause.resume());
    dry_run = true;
    start();
    pass(hours{1});
    EXPECT_EQ(deleted(), 0U);
}

TEST_F(DutyLoopTest, ByAClockThatIsWrongNothingEnds) {
    used_house();
    keep_free(80, 60);
    settings.policy.duties.life_span.after = minutes{10};
    clock_ahead = Duration{minutes{2}};
    begin();
    pass(hours{1});
    EXPECT_THAT(corrections(), IsEmpty());
    clock_ahead = Duration{0};
    run_until([&] { return deleted() > 0; });
}

TEST_F(DutyLoopTest, AProtectedServerOrALockedOrARegularOneNeverEnds) {
    used_house();
    keep_free(20, 10);
    settings.policy.duties.life_span.after = minutes{10};
    const ServerId kept{"host1a"};
    journal.protected_servers[kept] = {kept, "", clock.now(), {}, "me", "moves tonight"};
    cloud.lock("host1b", "administrators");
    start();
    run_until([&] { return cloud.living("host1").size() == 2; });
    pass(hours{1});
    EXPECT_THAT(cloud.living("host1"), UnorderedElementsAre("host1a", "host1b"));
    EXPECT_EQ(cloud.living("host2").size(), 3U);
    for (const RequestRecord& each : corrections())
        for (const StepEntry& step : each.steps)
            if (step.step == Step::delete_sent) {
                EXPECT_THAT(step.detail, AnyOf(HasSubstr("high mark"), HasSubstr("life span")));
            }
}

TEST_F(DutyLoopTest, WhatALimitOrTheBreakerForbidsStays) {
    used_house();
    keep_free(80, 60);
    settings.policy.duties.life_span.after = minutes{10};
    settings.policy.safeguards.limits.victims_per_window = 1;
    settings.policy.safeguards.limits.window = hours{24};
    EXPECT_TRUE(breaker.pause("the reaper", "wasted"));
    start();
    pass(minutes{5});
    EXPECT_EQ(deleted(), 0U);
    crash();
    EXPECT_TRUE(breaker.resume());
    start();
    pass(hours{1});
    EXPECT_EQ(deleted(), 1U);
}

// ---- lent room ----

class LentRoomTest : public LendingHouse {};

TEST_F(LentRoomTest, ATenantStaysAsItsRoomWouldGoBackToTheReservation) {
    settings.policy.duties.watermark.marks = {{ResourceClass{"VCPU"}, 80, 60}};
    const LogCapture log;
    start_and_hold();
    borrow("tenant", "req-1");
    pass(hours{1});
    EXPECT_EQ(lent(), 2);
    EXPECT_EQ(cloud.count("DELETE"), 0U) << "6 of 6 would be used as before";
    EXPECT_FALSE(log.lines_with("no revocable server may go now").empty()) << log.text();
}

}  // namespace
}  // namespace reaper::test::duty_loop_test

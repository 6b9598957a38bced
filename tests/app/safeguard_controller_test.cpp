// The safeguards in the running reaper: what they refuse, what opens the breaker, what a restart
// keeps.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/full_house.hpp"

namespace reaper::test::braking_test {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::HasSubstr;

class BrakingTest : public FullHouse {
protected:
    /// A request that is served at `when` after the start of time; its server waits for ever.
    const Outcome& serve(int number, const std::string& project = "regular") {
        const std::string server = "r" + std::to_string(number);
        const std::string request = "req-" + std::to_string(number);
        requester(server, project);
        NovaFailure one = another(request, server);
        one.project = project;
        one.timestamp = timestamp();
        messages->deliver(body_of(one));
        return outcome_of(request);
    }
    std::string timestamp() const {
        const auto now = clock.now().time_since_epoch();
        const auto in_day = std::chrono::duration_cast<seconds>(now % std::chrono::days{1}).count();
        char text[64];
        std::snprintf(text, sizeof text, "2026-11-20 %02d:%02d:%02d.000000", int(in_day / 3600),
                      int(in_day / 60 % 60), int(in_day % 60));
        return text;
    }
    bool labeled(const std::string& kind) const {
        return std::any_of(journal.noted_marks.begin(), journal.noted_marks.end(),
                           [&](const JournalEvent& mark) { return mark.kind == kind; });
    }
};

TEST_F(BrakingTest, AProtectedServerIsNeverAVictim) {
    full_host();
    settings.policy.safeguards.protect.tags = {"keep"};
    for (const char* n : {"a", "b", "c"})
        cloud.server_at(std::string{"host1"} + n).record.server.tags =
            Shared<std::set<std::string>>{{"keep"}};
    start();
    EXPECT_EQ(serve(1).kind, OutcomeKind::freed);
    EXPECT_FALSE(cloud.exists("host1d"));
    EXPECT_EQ(serve(2).kind, OutcomeKind::not_enough);
    EXPECT_EQ(outcome_of("req-2").safeguard, "protected");
    EXPECT_EQ(cloud.count("DELETE"), 1U);
}

TEST_F(BrakingTest, AServerThatIsProtectedAfterThePlanIsSparedByTheLastLook) {
    full_host();
    settings.policy.safeguards.protect.tags = {"keep"};
    std::string victim;
    start();
    cloud.on_call = [&](const std::string& call) -> std::optional<Error> {
        if (!victim.empty() || !call.starts_with("server host1")) return std::nullopt;
        victim = call.substr(7);
        cloud.server_at(victim).record.server.tags = Shared<std::set<std::string>>{{"keep"}};
        return std::nullopt;
    };
    EXPECT_EQ(serve(1).kind, OutcomeKind::freed);
    EXPECT_TRUE(cloud.exists(victim));
    EXPECT_EQ(cloud.count("DELETE"), 1U);
}

TEST_F(BrakingTest, TheLimitOfAWindowHoldsOverARestart) {
    full_host();
    settings.policy.safeguards.limits.victims_per_window = 2;
    settings.policy.safeguards.limits.window = std::chrono::hours{1};
    start();
    EXPECT_EQ(serve(1, "p1").kind, OutcomeKind::freed);
    EXPECT_EQ(serve(2, "p2").kind, OutcomeKind::freed);
    run_until([&] { return all_acknowledged(2); });
    crash();
    start();
    EXPECT_EQ(serve(3, "p3").kind, OutcomeKind::not_enough);
    EXPECT_EQ(outcome_of("req-3").safeguard, "limit-window");
    EXPECT_EQ(cloud.count("DELETE"), 2U);
}

TEST_F(BrakingTest, TheLimitOfAWindowHoldsWhenTheClockIsSetForward) {
    full_host("host1");
    settings.policy.safeguards.limits.victims_per_window = 1;
    start();
    EXPECT_EQ(serve(1, "p1").kind, OutcomeKind::freed);
    clock.step(std::chrono::hours{3});
    run_until([&] { return labeled("clock-stepped"); });
    NovaFailure next = another("req-late", "requester-late");
    next.timestamp = "2026-11-20 03:00:00.000000";
    requester("requester-late");
    messages->deliver(body_of(next));
    EXPECT_EQ(outcome_of("req-late").safeguard, "limit-window");
}

TEST_F(BrakingTest, CullsThatKeepHelpingNobodyOpenTheBreaker) {
    full_host("host1");
    full_host("host2");
    settings.policy.safeguards.breaker.wasted = 2;
    start();
    serve(1, "p1");
    serve(2, "p2");
    run_until([&] { return pause.why.has_value(); });
    EXPECT_THAT(*pause.why, HasSubstr("circuit breaker"));
    EXPECT_THAT(*pause.why, HasSubstr("reaper resume"));
    run_until([&] { return labeled("breaker-opened"); });
    const auto deleted = cloud.count("DELETE");
    EXPECT_EQ(serve(3, "p3").kind, OutcomeKind::refused);
    EXPECT_EQ(outcome_of("req-3").safeguard, "paused");
    EXPECT_EQ(cloud.count("DELETE"), deleted);

    ASSERT_TRUE(pause.resume());
    run_until([&] { return labeled("resumed"); });
    // Nothing else is free: the room that nobody took comes last, but it comes.
    EXPECT_EQ(serve(4, "p4").kind, OutcomeKind::already_there);
}

TEST_F(BrakingTest, TheBreakerStopsTheReaperAlsoWhenItsFileCantBeWritten) {
    full_host("host1");
    full_host("host2");
    settings.policy.safeguards.breaker.wasted = 1;
    pause.disk_full = true;
    start();
    serve(1, "p1");
    run_until([&] { return !pause.calls.empty(); });
    EXPECT_EQ(serve(2, "p2").kind, OutcomeKind::refused);
    crash();
    start();  // no file tells of it, but the journal does
    EXPECT_EQ(serve(3, "p3").kind, OutcomeKind::refused);
    EXPECT_FALSE(labeled("breaker-opened"));
    pause.disk_full = false;
    run_until([&] { return pause.why.has_value() && labeled("breaker-opened"); });
    EXPECT_EQ(cloud.count("DELETE"), 1U);
}

TEST_F(BrakingTest, DeletionsThatKeepFailingOpenTheBreaker) {
    full_host("host1");
    settings.policy.safeguards.breaker.failed = 2;
    start();
    cloud.on_call = [](const std::string& call) -> std::optional<Error> {
        if (call.starts_with("DELETE")) return Error{Errc::forbidden, "nova: 403: not you"};
        return std::nullopt;
    };
    const Outcome& outcome = serve(1);
    EXPECT_EQ(outcome.kind, OutcomeKind::refused);
    EXPECT_EQ(outcome.safeguard, "paused");
    EXPECT_EQ(cloud.count("DELETE"), 2U);
    EXPECT_TRUE(pause.why.has_value());
}

TEST_F(BrakingTest, DeletionsThatNovaKeepsRefusingForTheirStateOpenTheBreaker) {
    full_host("host1");
    settings.policy.safeguards.breaker.failed = 2;
    start();
    cloud.conflict_on_delete = true;
    const Outcome& outcome = serve(1);
    EXPECT_EQ(outcome.kind, OutcomeKind::refused);
    EXPECT_EQ(outcome.safeguard, "paused");
    EXPECT_EQ(cloud.count("DELETE"), 2U);
    EXPECT_TRUE(pause.why.has_value());
}

TEST_F(BrakingTest, AHostWhoseFreedRoomWasRefusedComesLastInTheNextPlan) {
    full_host("host1");
    full_host("host2");
    start();
    serve(1);
    run_until([&] { return all_acknowledged(1); });
    const std::string first = cloud.living("host1").size() == 3 ? "host1" : "host2";
    const std::string other = first == "host1" ? "host2" : "host1";
    const TimePoint then = clock.now();
    run_until([&] { return clock.now() - then > seconds{30}; });
    EXPECT_EQ(serve(2).kind, OutcomeKind::freed);
    EXPECT_EQ(record("req-1").freed_room->kind, FreedRoomResultKind::wasted);
    EXPECT_EQ(cloud.living(other).size(), 3U);
}

TEST_F(BrakingTest, PausingAndResumingIsJournalled) {
    full_host();
    start();
    pause.why = "paused by alice: maintenance";
    run_until([&] { return labeled("paused"); });
    EXPECT_THAT(status.line, HasSubstr("alice"));
    pause.why.reset();
    run_until([&] { return labeled("resumed"); });
}

}  // namespace
}  // namespace reaper::test::braking_test

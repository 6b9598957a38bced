// The safeguards in the running reaper: what they refuse, what opens the breaker, what a restart
// keeps.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <utility>

#include "app/full_house.hpp"

namespace reaper::test::braking_test {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::HasSubstr;

class BrakingTest : public FullHouse {
protected:
    /// A request that is served at `when` after the start of time; its server waits forever.
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
    /// Servers of another project, as long as there is room.
    void fill_up(const std::string& host) {
        while (small.fits_in(cloud.free_on(host)))
            cloud.add_server("filler-" + std::to_string(++fillers_), host, "spot", small);
    }
    bool labeled(const std::string& kind) const {
        return std::any_of(journal.noted_marks.begin(), journal.noted_marks.end(),
                           [&](const JournalEvent& mark) { return mark.kind == kind; });
    }

    int fillers_ = 0;
};

TEST_F(BrakingTest, AProtectedServerIsNeverAVictim) {
    full_host();
    settings.policy.safeguards.protect.owners = true;
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
    settings.policy.safeguards.protect.owners = true;
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

TEST_F(BrakingTest, ALimitThatAnotherReaperUsedUpRefusesAsIfItWereItsOwn) {
    full_host();
    settings.policy.safeguards.limits.victims_per_window = 1;
    journal.most_victims = 1;
    start();
    before("server host1", [&] {
        RequestRecord& theirs = journal.records[RequestId{"theirs"}];
        theirs.request.id = RequestId{"theirs"};
        theirs.steps.push_back({ServerId{"gone"}, Step::delete_sent, "", clock.now()});
        theirs.outcome = Outcome{OutcomeKind::freed, "", clock.now(), {}};
    });
    EXPECT_EQ(serve(1).kind, OutcomeKind::not_enough);
    EXPECT_EQ(outcome_of("req-1").safeguard, "limit-window");
    EXPECT_THAT(outcome_of("req-1").reason, HasSubstr("0 left, 1 needed"));
    EXPECT_EQ(cloud.count("DELETE"), 0U);
    EXPECT_FALSE(service().state().value().journal_trouble);
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

TEST_F(BrakingTest, SlotsThatWereFreedForServersThatLeftMeanwhileAreWasted) {
    full_host();
    settings.policy.safeguards.breaker.wasted = 3;
    settings.policy.safeguards.breaker.projects = 1;
    for (const char* id : {"r1", "r2", "r3"}) requester(id);
    start();
    for (const char* id : {"r1", "r2", "r3"}) {
        NovaFailure one = failure();
        one.server = id;
        one.spec_server = "r1";
        one.num_instances = 3;
        messages->deliver(body_of(one));
    }
    run_until([&] { return cloud.count("DELETE") == 3; });
    for (const char* id : {"r1", "r2", "r3"}) cloud.remove(uuid_of(id));
    run_until([&] { return journal.records[RequestId{"req-1"}].freed_room.has_value(); });
    run_until([&] { return breaker.why.has_value(); });
    EXPECT_THAT(*breaker.why, HasSubstr("the room of 3 slots in a row went unused"));
}

TEST_F(BrakingTest, WastedCullsOfSeveralProjectsOpenTheBreaker) {
    full_host("host1");
    full_host("host2");
    settings.policy.safeguards.breaker.wasted = 2;
    start();
    serve(1, "p1");
    serve(2, "p2");
    run_until([&] { return breaker.why.has_value(); });
    EXPECT_THAT(*breaker.why, HasSubstr("circuit breaker"));
    EXPECT_THAT(*breaker.why, HasSubstr("reaper resume"));
    EXPECT_FALSE(pause.why.has_value()) << "the pause is the operator's";
    run_until([&] { return labeled("breaker-opened"); });
    const auto deleted = cloud.count("DELETE");
    EXPECT_EQ(serve(3, "p3").kind, OutcomeKind::refused);
    EXPECT_EQ(outcome_of("req-3").safeguard, "paused");
    EXPECT_EQ(cloud.count("DELETE"), deleted);

    ASSERT_TRUE(breaker.resume());
    run_until([&] { return labeled("resumed"); });
    // Nothing else is free: the wasted room comes last, but it comes.
    EXPECT_EQ(serve(4, "p4").kind, OutcomeKind::already_there);
}

TEST_F(BrakingTest, TheBreakerTriesOneCullByItselfAndClosesWhenItHelps) {
    full_host("host1");
    full_host("host2");
    settings.policy.safeguards.breaker.wasted = 2;
    start();
    serve(1, "p1");
    serve(2, "p2");
    run_until([&] { return labeled("breaker-opened"); });
    for (const char* host : {"host1", "host2"}) fill_up(host);
    run_until([&] { return labeled("breaker-half-open"); });
    EXPECT_FALSE(breaker.why.has_value());
    // Their own servers do not take it: it is not known yet whether it helped.
    EXPECT_EQ(serve(3, "p3").kind, OutcomeKind::freed);
    EXPECT_EQ(serve(4, "p4").safeguard, "breaker");
    const auto freed =
        cloud.living("host1").size() < cloud.living("host2").size() ? "host1" : "host2";
    boots("second-try", freed, "p3");
    run_until([&] { return labeled("breaker-closed"); });
    EXPECT_EQ(serve(5, "p5").kind, OutcomeKind::freed);
}

TEST_F(BrakingTest, WhenItsTryGoesWrongTheBreakerOpensForLonger) {
    full_host("host1");
    settings.policy.safeguards.breaker.wasted = 1;
    settings.policy.safeguards.breaker.projects = 1;
    settings.policy.safeguards.breaker.retry = {minutes{20}, minutes{60}};
    start();
    serve(1, "p1");
    run_until([&] { return labeled("breaker-half-open"); });
    fill_up("host1");
    const TimePoint tried = clock.now();
    serve(2, "p2");
    journal.noted_marks.clear();
    run_until([&] { return labeled("breaker-half-open"); });
    EXPECT_GE(clock.now() - tried, settings.cull.watch + minutes{40});
}

TEST_F(BrakingTest, WhatTheBreakerKnowsHoldsOverARestart) {
    full_host("host1");
    settings.policy.safeguards.breaker.wasted = 1;
    settings.policy.safeguards.breaker.projects = 1;
    start();
    serve(1, "p1");
    run_until([&] { return labeled("breaker-opened"); });
    crash();
    start();
    EXPECT_EQ(serve(2, "p2").safeguard, "paused");
    run_until([&] { return labeled("breaker-half-open"); });
    crash();
    start();
    fill_up("host1");
    EXPECT_EQ(serve(3, "p3").kind, OutcomeKind::freed);
    EXPECT_EQ(serve(4, "p4").safeguard, "breaker");
}

TEST_F(BrakingTest, AnOperatorWhoClosesTheBreakerWhileNoDaemonRunsIsHeard) {
    full_host("host1");
    settings.policy.safeguards.breaker.wasted = 1;
    settings.policy.safeguards.breaker.projects = 1;
    start();
    serve(1, "p1");
    run_until([&] { return labeled("breaker-opened"); });
    crash();
    ASSERT_TRUE(breaker.resume());
    start();
    run_until([&] { return labeled("resumed"); });
    EXPECT_EQ(serve(2, "p2").kind, OutcomeKind::already_there);
}

TEST_F(BrakingTest, TheBreakerOfASharedJournalIsAsAnotherMachineLeftIt) {
    full_host("host1");
    shared_journal = true;
    settings.policy.safeguards.breaker.wasted = 1;
    settings.policy.safeguards.breaker.projects = 1;
    start();
    serve(1, "p1");
    run_until([&] { return labeled("breaker-opened"); });
    crash();
    const auto file_of_first = std::exchange(breaker.why, std::nullopt);
    start();
    EXPECT_TRUE(breaker.why) << "it is open here too";
    EXPECT_EQ(serve(2, "p2").safeguard, "paused");
    EXPECT_FALSE(labeled("resumed")) << "no operator was here";
    ASSERT_TRUE(breaker.resume());
    run_until([&] { return labeled("resumed"); });
    crash();
    breaker.why = file_of_first;
    start();
    run_until([&] { return !breaker.why; });
    EXPECT_EQ(serve(3, "p3").safeguard, "");
}

TEST_F(BrakingTest, AResumptionOnAnotherMachineClosesTheBreaker) {
    full_host("host1");
    shared_journal = true;
    settings.policy.safeguards.breaker.wasted = 1;
    settings.policy.safeguards.breaker.projects = 1;
    pause.resumed = clock.now();
    start();
    serve(1, "p1");
    run_until([&] { return labeled("breaker-opened"); });
    pause.resumed = clock.now();
    run_until([&] { return labeled("resumed"); });
    EXPECT_FALSE(breaker.why);
    fill_up("host1");
    EXPECT_EQ(serve(2, "p2").kind, OutcomeKind::freed);
    journal.noted_marks.clear();
    run_until([&] { return labeled("breaker-opened"); });
    crash();
    clock.advance(seconds{1});
    pause.resumed = clock.now();
    start();
    run_until([&] { return labeled("resumed"); });
    EXPECT_FALSE(breaker.why) << "no reaper was active then";
}

TEST_F(BrakingTest, ASwitchThatCantBeReadForAWhileLeavesTheBreakerOpen) {
    full_host("host1");
    settings.policy.safeguards.breaker.wasted = 1;
    settings.policy.safeguards.breaker.projects = 1;
    start();
    serve(1, "p1");
    run_until([&] { return labeled("breaker-opened"); });
    pause.unknown = true;
    pause.why = "the journal does not answer";
    run_until([&] { return labeled("held-back"); });
    pause.why.reset();
    run_until([&] { return labeled("held-back-over"); });
    EXPECT_FALSE(labeled("paused"));
    EXPECT_FALSE(labeled("resumed")) << "no operator was here";
    EXPECT_TRUE(breaker.why);
    EXPECT_EQ(serve(2, "p2").safeguard, "paused");
}

TEST_F(BrakingTest, AnOpenBreakerThatTheJournalLostStaysOpen) {
    full_host("host1");
    breaker.why = "paused by circuit breaker: before";
    start();
    EXPECT_EQ(serve(1, "p1").safeguard, "paused");
    run_until([&] { return labeled("breaker-half-open"); });
    EXPECT_FALSE(breaker.why.has_value());
}

TEST_F(BrakingTest, OneHostileProjectDoesNotStopTheOthers) {
    full_host("host1");
    full_host("host2");
    settings.policy.safeguards.breaker.wasted = 2;
    settings.policy.safeguards.project_breaker.wasted = 2;
    start();
    serve(1, "hostile");
    serve(2, "hostile");
    run_until([&] { return labeled("project-breaker-opened"); });
    fill_up("host1");
    fill_up("host2");
    EXPECT_EQ(serve(3, "hostile").safeguard, "project-breaker");
    EXPECT_EQ(serve(4, "honest").kind, OutcomeKind::freed);
    EXPECT_FALSE(breaker.why.has_value());
    crash();
    start();
    EXPECT_EQ(serve(5, "hostile").safeguard, "project-breaker");
}

TEST_F(BrakingTest, AShapeThatNovaKeepsRefusingCoolsDownForItsProject) {
    full_host("host1");
    full_host("host2");
    settings.policy.safeguards.shape_cooldown.wasted = 1;
    start();
    serve(1, "p");
    run_until([&] { return labeled("shape-cooldown"); });
    fill_up("host1");
    fill_up("host2");
    EXPECT_EQ(serve(2, "p").safeguard, "shape-cooldown");
    EXPECT_EQ(serve(3, "q").kind, OutcomeKind::freed);
}

TEST_F(BrakingTest, TheBreakerStopsTheReaperAlsoWhenItsFileCantBeWritten) {
    full_host("host1");
    full_host("host2");
    settings.policy.safeguards.breaker.wasted = 1;
    settings.policy.safeguards.breaker.projects = 1;
    breaker.disk_full = true;
    start();
    serve(1, "p1");
    run_until([&] { return !breaker.calls.empty(); });
    EXPECT_EQ(serve(2, "p2").kind, OutcomeKind::refused);
    crash();
    start();  // no file tells of it, but the journal does
    EXPECT_EQ(serve(3, "p3").kind, OutcomeKind::refused);
    EXPECT_FALSE(labeled("breaker-opened"));
    breaker.disk_full = false;
    run_until([&] { return breaker.why.has_value() && labeled("breaker-opened"); });
    EXPECT_EQ(cloud.count("DELETE"), 1U);
}

TEST_F(BrakingTest, DeletionsThatKeepFailingOpenTheBreaker) {
    full_host("host1");
    settings.policy.safeguards.breaker.failed = 2;
    shared_journal = true;
    start();
    cloud.on_call = [](const std::string& call) -> std::optional<Error> {
        if (call.starts_with("DELETE")) return Error{Errc::forbidden, "nova: 403: not you"};
        return std::nullopt;
    };
    const Outcome& outcome = serve(1);
    EXPECT_EQ(outcome.kind, OutcomeKind::refused);
    EXPECT_EQ(outcome.safeguard, "paused");
    EXPECT_EQ(cloud.count("DELETE"), 2U);
    run_until([&] { return labeled("breaker-opened"); });
    for (const bool another_machine : {false, true}) {
        crash();
        if (another_machine) breaker.why.reset();
        start();
        EXPECT_EQ(serve(another_machine ? 3 : 2).safeguard, "paused");
        EXPECT_TRUE(breaker.why) << another_machine;
    }
    EXPECT_EQ(cloud.count("DELETE"), 2U);
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
    EXPECT_TRUE(breaker.why.has_value());
}

TEST_F(BrakingTest, AVictimThatItsOwnerRestoredDoesNotOpenTheBreaker) {
    full_host("host1");
    settings.policy.safeguards.breaker.failed = 1;
    cloud.soft_delete = true;
    cloud.on_call = [&, once = false](const std::string& call) mutable -> std::optional<Error> {
        if (once || !call.starts_with("server host1")) return std::nullopt;
        Server& victim = cloud.server_at(call.substr(7)).record.server;
        once = victim.status == "SOFT_DELETED";
        if (!once) return std::nullopt;
        cloud.restore_by(victim.id.str(), "alice");
        victim.status = "RESIZE";  // no time to delete it
        return std::nullopt;
    };
    start();
    EXPECT_EQ(serve(1).kind, OutcomeKind::freed);
    EXPECT_EQ(cloud.count("DELETE"), 2U);
    crash();
    start();
    EXPECT_FALSE(breaker.why);
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

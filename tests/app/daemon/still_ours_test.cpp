// Several reapers on one broker, pauses and clocks: nothing is deleted without the right to.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/full_house.hpp"

namespace reaper::test::still_ours_test {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

class StillOursTest : public FullHouse {};

TEST_F(StillOursTest, WithoutTheConnectionNoServerIsDeletedUntilTheMessageComesAgain) {
    full_host();
    requester();
    start();
    before("server host1", [&] { messages->reconnect(); });
    messages->deliver(body_of(failure()));
    run_until([&] { return cloud.count("server " + uuid_of("requester-1")) >= 2; });
    const TimePoint then = clock.now();
    run_until([&] { return clock.now() - then > seconds{20}; });
    EXPECT_EQ(cloud.count("DELETE"), 0U);
    messages->deliver(body_of(failure()));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_EQ(cloud.count("DELETE"), 1U);
    run_until([&] { return messages->acknowledged.contains(2); });
}

TEST_F(StillOursTest, AMessageThatNeverComesAgainWentToAnotherReaper) {
    full_host();
    requester();
    start();
    before("server host1", [&] { messages->reconnect(); });
    messages->deliver(body_of(failure()));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::handed_over);
    EXPECT_EQ(cloud.count("DELETE"), 0U);
    EXPECT_GT(clock.now() - record("req-1").received_at, settings.trigger.max_age / 2);
}

TEST_F(StillOursTest, AClockThatIsSetBackBeforeItIsWrittenGivesItNoMoreTime) {
    full_host();
    requester();
    start();
    std::size_t tries = 0;
    bool full = true;
    journal.fails = [&](const std::string& what) {
        tries += what.starts_with("admit") ? 1 : 0;
        return full && what.starts_with("admit");
    };
    messages->deliver(body_of(failure()));
    run_until([&] { return tries > 0; });
    clock.step(-hours{1});
    messages->reconnect();
    full = false;
    const Duration then = clock.steady();
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::handed_over);
    EXPECT_LT(clock.steady() - then, settings.trigger.max_age * 2);
}

TEST_F(StillOursTest, BetweenTwoDeletionsALostConnectionStopsTheSecond) {
    full_host();
    requester();
    settings.cull.max_parallel_deletions = 1;
    start();
    before("DELETE", [&] { messages->reconnect(); });
    messages->deliver(body_of(failure(4)));
    run_until([&] { return cloud.living("host1").size() == 3; });
    const TimePoint then = clock.now();
    run_until([&] { return clock.now() - then > seconds{30}; });
    EXPECT_EQ(cloud.count("DELETE"), 1U);
    messages->deliver(body_of(failure(4)));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_EQ(cloud.count("DELETE"), 2U);
    EXPECT_EQ(cloud.free_on("host1"), small * 2);
}

TEST_F(StillOursTest, AfterARestartOnlyADeliveredMessageMayKill) {
    full_host();
    requester();
    start();
    cloud.on_call = [](const std::string& call) -> std::optional<Error> {
        if (call.starts_with("DELETE")) return Error{Errc::unreachable, "connection reset"};
        return std::nullopt;
    };
    messages->deliver(body_of(failure()));
    run_until([&] { return cloud.count("DELETE") >= 1; });
    crash();
    cloud.on_call = {};
    const auto sent = cloud.count("DELETE");
    start();
    const TimePoint then = clock.now();
    run_until([&] { return clock.now() - then > seconds{30}; });
    EXPECT_LE(cloud.count("DELETE"), sent);
    messages->deliver(body_of(failure()));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_EQ(cloud.living("host1").size(), 3U);
}

// ---- what another reaper began ----

TEST_F(StillOursTest, WhatAnotherReaperDeletesIsWaitedForAndNotRepeated) {
    full_host();
    requester();
    for (const char* victim : {"host1a"}) {
        auto& server = cloud.server_at(victim);
        server.record.server.task_state = "deleting";
        server.gone_at = clock.now() + seconds{20};
    }
    start();
    messages->deliver(body_of(failure()));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::already_there);
    EXPECT_EQ(cloud.count("DELETE"), 0U);
    EXPECT_TRUE(small.fits_in(cloud.free_on("host1")));
}

/// The plan knows nothing of it yet: all or nothing holds for it, too.
TEST_F(StillOursTest, AVictimThatItsUserDeletesIsGoneBeforeAnyOtherIsDeleted) {
    full_host();
    requester();
    start();
    before("server host1", [&] {
        for (const char* const leaving : {"host1a", "host1b"}) {
            auto& server = cloud.server_at(leaving);
            server.record.server.task_state = "deleting";
            server.gone_at = clock.now() + seconds{20};
        }
    });
    messages->deliver(body_of(failure(6)));
    run_until([&] { return cloud.count("DELETE") > 0; });
    EXPECT_FALSE(cloud.exists("host1a"));
    EXPECT_FALSE(cloud.exists("host1b"));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_EQ(cloud.count("DELETE"), 1U);
}

/// Its user may want it back, so that the others would be deleted for nothing.
TEST_F(StillOursTest, AVictimThatItsUserDeletesSoftlyStopsThePlanBeforeAnyOtherIsDeleted) {
    full_host();
    requester();
    start();
    before("server host1",
           [&] { cloud.server_at("host1b").record.server.status = "SOFT_DELETED"; });
    messages->deliver(body_of(failure(6)));
    run_until([&] { return cloud.count("DELETE") > 0; });
    EXPECT_EQ(record("req-1").plans.size(), 2U);
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_EQ(cloud.count("DELETE"), 3U);
    EXPECT_TRUE(cloud.exists("host1b"));
}

TEST_F(StillOursTest, AVictimThatTurnsOutToBeDeletedSoftlyCostsNoDeadline) {
    full_host();
    requester();
    start();
    before("server host1",
           [&] { cloud.server_at("host1b").record.server.task_state = "soft-deleting"; });
    messages->deliver(body_of(failure(6)));
    run_until([&] { return cloud.count("server host1b") >= 2; });
    EXPECT_EQ(cloud.count("DELETE"), 0U);
    auto& kept = cloud.server_at("host1b").record.server;
    kept.task_state = "";
    kept.status = "SOFT_DELETED";
    const TimePoint then = clock.now();
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_LT(clock.now() - then, settings.cull.deadline / 2);
    EXPECT_TRUE(cloud.exists("host1b"));
}

TEST_F(StillOursTest, ADeletionOfOthersThatNeverEndsIsGivenUpAndAnotherServerTaken) {
    full_host();
    requester();
    cloud.server_at("host1a").record.server.task_state = "deleting";
    start();
    messages->deliver(body_of(failure()));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_EQ(cloud.count("DELETE"), 1U);
    EXPECT_TRUE(cloud.exists("host1a"));
    EXPECT_TRUE(small.fits_in(cloud.free_on("host1")));
}

TEST_F(StillOursTest, AVictimOfAnotherRequestThatStaysAfterAllIsNotWaitedFor) {
    cloud.add_host("host1", small * 4);
    cloud.add_server("big", "host1", "spot", small * 4);
    cloud.slow[ServerId{"big"}] = seconds{20};
    for (const char* const id : {"r1", "r2"}) requester(id);
    start();
    messages->deliver(body_of(another("req-1", "r1")));
    messages->deliver(body_of(another("req-2", "r2")));
    for (const char* const id : {"req-1", "req-2"})
        run_until([&] {
            const auto known = journal.records.find(RequestId{id});
            return known != journal.records.end() && !known->second.plans.empty();
        });
    cloud.server_at("big").record.server.locked = true;
    const TimePoint then = clock.now();
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::not_enough);
    EXPECT_EQ(outcome_of("req-2").kind, OutcomeKind::not_enough);
    EXPECT_LT(clock.now() - then, minutes{2});
    EXPECT_EQ(cloud.count("DELETE"), 0U);
}

TEST_F(StillOursTest, WhoseTurnComesAfterItsTimeIsNotServed) {
    full_host();
    for (const char* const id : {"r1", "r2"}) requester(id);
    start();
    before("projects", [&] { clock.advance(minutes{11}); });
    messages->deliver(body_of(another("req-1", "r1")));
    messages->deliver(body_of(another("req-2", "r2")));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::failed);
    EXPECT_EQ(outcome_of("req-2").kind, OutcomeKind::failed);
    EXPECT_THAT(outcome_of("req-2").reason, ::testing::HasSubstr("its time was over"));
    EXPECT_EQ(cloud.count("DELETE"), 0U);
}

// ---- the kill switch ----

TEST_F(StillOursTest, APausedReaperRefusesAndSaysWhoPausedIt) {
    full_host();
    requester();
    pause.why = "paused by alice: maintenance";
    start();
    messages->deliver(body_of(failure()));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::refused);
    EXPECT_EQ(outcome_of("req-1").safeguard, "paused");
    EXPECT_THAT(outcome_of("req-1").reason, ::testing::HasSubstr("alice"));
    EXPECT_EQ(cloud.count("DELETE"), 0U);
    run_until([&] { return all_acknowledged(1); });
}

TEST_F(StillOursTest, WhereItIsNotKnownWhetherItIsPausedTheRequestWaits) {
    full_host();
    requester();
    pause.why = "the switch in mysql://db/ can't be read: no answer";
    pause.unknown = true;
    start();
    messages->deliver(body_of(failure()));
    const auto began = clock.steady();
    run_until([&] { return clock.steady() > began + seconds{20}; });
    EXPECT_FALSE(journal.records.at(RequestId{"req-1"}).outcome);
    EXPECT_EQ(cloud.count("DELETE"), 0U);
    pause.why.reset();
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
}

TEST_F(StillOursTest, APauseBetweenTwoDeletionsStopsTheSecond) {
    full_host();
    requester();
    settings.cull.max_parallel_deletions = 1;
    start();
    before("DELETE", [&] { pause.why = "paused by alice"; });
    messages->deliver(body_of(failure(4)));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::incomplete);
    EXPECT_EQ(outcome_of("req-1").safeguard, "paused");
    EXPECT_EQ(cloud.count("DELETE"), 1U);
}

TEST_F(StillOursTest, APauseWhileTheDeletionWaitsForItsTurnStopsIt) {
    full_host();
    requester();
    start();
    before("server " + uuid_of("requester-1"), [] {});  // the notice's own question
    pause.on_ask = [&] {
        // Asked before the decision, before the journal is written, and at the call itself.
        if (journal.has_step("host1d", Step::delete_sent) ||
            journal.has_step("host1a", Step::delete_sent) ||
            journal.has_step("host1b", Step::delete_sent) ||
            journal.has_step("host1c", Step::delete_sent))
            pause.why = "paused by alice";
    };
    messages->deliver(body_of(failure()));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::refused);
    EXPECT_EQ(cloud.count("DELETE"), 0U);
    EXPECT_EQ(cloud.living("host1").size(), 4U);
}

// ---- clocks ----

TEST_F(StillOursTest, AClockThatIsSetForwardInMidCullEndsNothing) {
    full_host();
    requester();
    start();
    before("DELETE", [&] { clock.step(hours{1}); });
    messages->deliver(body_of(failure()));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_EQ(cloud.count("DELETE"), 1U);
    run_until([&] { return !journal.noted_marks.empty(); });
    EXPECT_EQ(journal.noted_marks.front().kind, "clock-stepped");
}

TEST_F(StillOursTest, OneThatComesRightAfterTheClockIsSetBackHasItsWholeTime) {
    full_host();
    requester();
    start();
    const auto now = clock.now();
    clock.step(hours{24});
    run_until([&] { return !journal.noted_marks.empty(); });
    clock.step(-hours{24});
    ASSERT_LT(clock.now() - now, seconds{10});
    messages->deliver(body_of(failure()));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_EQ(journal.noted_marks.size(), 2U);
}

TEST_F(StillOursTest, AClockThatIsSetBackKeepsPromisesNoLongerThanTheyWere) {
    full_host();
    requester("r1");
    requester("r2");
    start();
    messages->deliver(body_of(another("req-1", "r1")));
    outcome_of("req-1");
    clock.step(-hours{5});
    const TimePoint then = clock.now();
    run_until([&] { return clock.now() - then > settings.cull.promise + seconds{10}; });
    NovaFailure second = another("req-2", "r2");
    second.project = "another";
    cloud.remove(uuid_of("r2"));
    cloud.add_requester(uuid_of("r2"), "another", Flavor{});
    messages->deliver(body_of(second));
    EXPECT_EQ(outcome_of("req-2").kind, OutcomeKind::already_there);
    EXPECT_EQ(cloud.count("DELETE"), 1U);
}

// ---- many at once ----

TEST_F(StillOursTest, LikeRequestsThatCantBeMetShareOneAnswer) {
    cloud.add_host("host1", small);
    cloud.add_server("tenant", "host1", "regular", small);
    for (int i = 0; i < 50; ++i) requester("r" + std::to_string(i));
    start();
    for (int i = 0; i < 50; ++i)
        messages->deliver(body_of(another("req-" + std::to_string(i), "r" + std::to_string(i))));
    for (int i = 0; i < 50; ++i)
        EXPECT_EQ(outcome_of("req-" + std::to_string(i)).kind, OutcomeKind::not_enough);
    EXPECT_LT(cloud.count("projects"), 10U);
    run_until([&] { return all_acknowledged(50); });
}

}  // namespace
}  // namespace reaper::test::still_ours_test

// A cloud that fails for a while, or is slow: nothing is lost, and no servers deleted by old
// knowledge.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/full_house.hpp"

namespace reaper::test::troubled_cloud_test {
namespace {

using std::chrono::seconds;

class TroubledCloudTest : public FullHouse {};

TEST_F(TroubledCloudTest, DeletionsThatFailForAWhileDelayTheRequestAndNothingElse) {
    full_host();
    requester();
    settings.policy.safeguards.breaker.failed = 100;
    start();
    const TimePoint then = clock.now();
    cloud.on_call = [&](const std::string& call) -> std::optional<Error> {
        if (!call.starts_with("DELETE") || clock.now() - then > seconds{20}) return std::nullopt;
        return Error{Errc::server_error, "500 from Nova"};
    };
    messages->deliver(body_of(failure()));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_GT(cloud.count("DELETE"), 4U);
    EXPECT_EQ(cloud.living("host1").size(), 3U);
}

/// The previous look may be outdated.
TEST_F(TroubledCloudTest, Rule1ADeletionThatWasLostIsSentAgainAfterAnotherLook) {
    full_host();
    requester();
    start();
    std::string lost;
    cloud.on_call = [&](const std::string& call) -> std::optional<Error> {
        if (!call.starts_with("DELETE") || !lost.empty()) return std::nullopt;
        lost = call.substr(7);
        cloud.server_at(lost).record.server.locked = true;
        return Error{Errc::unreachable, "connection reset"};
    };
    messages->deliver(body_of(failure()));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_EQ(cloud.count("DELETE " + lost), 1U);
    EXPECT_TRUE(cloud.exists(lost));
    EXPECT_EQ(cloud.living("host1").size(), 3U);
}

TEST_F(TroubledCloudTest, ADeletionThatWasLostDoesNotEndItsPlan) {
    full_host();
    requester();
    start();
    int lost = 0;
    cloud.on_call = [&](const std::string& call) -> std::optional<Error> {
        if (!call.starts_with("DELETE") || ++lost > 2) return std::nullopt;
        return Error{Errc::unreachable, "connection reset"};
    };
    messages->deliver(body_of(failure()));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_EQ(cloud.count("DELETE"), 3U);
    EXPECT_EQ(record("req-1").plans.size(), 1U);
    EXPECT_EQ(cloud.living("host1").size(), 3U);
}

TEST_F(TroubledCloudTest, DeletionsThatAreAlwaysLostAreGivenUp) {
    full_host();
    requester();
    settings.policy.safeguards.breaker.failed = 1;
    start();
    cloud.on_call = [&](const std::string& call) -> std::optional<Error> {
        if (!call.starts_with("DELETE")) return std::nullopt;
        return Error{Errc::unreachable, "connection reset"};
    };
    messages->deliver(body_of(failure()));
    EXPECT_EQ(outcome_of("req-1").safeguard, "paused");
    EXPECT_EQ(cloud.count("DELETE"), 5U);
    EXPECT_EQ(cloud.living("host1").size(), 4U);
}

TEST_F(TroubledCloudTest, DeletionsThatKeepFailingOpenTheBreaker) {
    full_host();
    requester();
    start();
    cloud.on_call = [&](const std::string& call) -> std::optional<Error> {
        if (!call.starts_with("DELETE")) return std::nullopt;
        return Error{Errc::server_error, "500 from Nova"};
    };
    messages->deliver(body_of(failure()));
    EXPECT_EQ(outcome_of("req-1").safeguard, "paused");
    EXPECT_TRUE(breaker.paused());
    EXPECT_EQ(cloud.living("host1").size(), 4U);
}

TEST_F(TroubledCloudTest, APlacementThatDoesNotAnswerIsNoFailedDeletion) {
    full_host();
    requester();
    settings.policy.safeguards.breaker.failed = 1;
    start();
    bool deleted = false;
    cloud.on_call = [&](const std::string& call) -> std::optional<Error> {
        deleted = deleted || call.starts_with("DELETE");
        if (!deleted || !call.starts_with("allocations")) return std::nullopt;
        return Error{Errc::server_error, "503 from Placement"};
    };
    messages->deliver(body_of(failure()));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::incomplete);
    EXPECT_FALSE(pause.paused());
}

TEST_F(TroubledCloudTest, WhoIsLockedWhilePlacementIsSlowLives) {
    full_host();
    requester();
    start();
    // Every answer of Placement on the first look takes long; then the user locks his servers.
    before("allocations", [&] {
        clock.advance(seconds{25});
        for (const char* name : {"a", "b", "c", "d"})
            cloud.server_at(std::string{"host1"} + name).record.server.locked = true;
    });
    messages->deliver(body_of(failure()));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::not_enough);
    EXPECT_EQ(cloud.count("DELETE"), 0U);
}

TEST_F(TroubledCloudTest, WhereOneAnswerTakesNineSecondsServersAreDeleted) {
    full_host();
    requester();
    settings.cull.max_parallel_deletions = 1;
    start();
    cloud.on_call = [&](const std::string& call) -> std::optional<Error> {
        if (call.starts_with("server host1")) clock.advance(seconds{9});
        return std::nullopt;
    };
    messages->deliver(body_of(failure()));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
}

TEST_F(TroubledCloudTest, ACloudTooSlowToTrustIsLeftAlone) {
    full_host();
    requester();
    start();
    cloud.on_call = [&](const std::string& call) -> std::optional<Error> {
        if (call.starts_with("server host1")) clock.advance(seconds{11});
        return std::nullopt;
    };
    messages->deliver(body_of(failure()));
    const Outcome outcome = outcome_of("req-1");
    EXPECT_EQ(outcome.kind, OutcomeKind::failed);
    EXPECT_THAT(outcome.reason, testing::HasSubstr("too slow to delete by"));
    EXPECT_EQ(cloud.count("DELETE"), 0U);
}

TEST_F(TroubledCloudTest, ARefusalInAnotherZoneSaysNothingOfFreedRoom) {
    full_host();
    requester();
    requester("elsewhere");
    start();
    messages->deliver(body_of(failure()));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    clock.advance(seconds{60});
    NovaFailure other = another("req-2", "elsewhere");
    other.timestamp = "2026-11-20 00:01:00.000000";
    other.availability_zone = "zone-2";
    cloud.server_at(uuid_of("elsewhere")).record.shown_zone = "zone-2";
    messages->deliver(body_of(other));
    EXPECT_NE(outcome_of("req-2").kind, OutcomeKind::freed);
    EXPECT_FALSE(record("req-1").freed_room.has_value());
}

TEST_F(TroubledCloudTest, ARefusalAfterHostsWereFoundSaysNothingOfFreedRoom) {
    full_host("host1");
    full_host("host2");
    requester();
    requester("retried");
    start();
    messages->deliver(body_of(failure()));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    clock.advance(seconds{30});
    NovaFailure other = another("req-2", "retried");
    other.timestamp = "2026-11-20 00:00:30.000000";
    other.exception = "MaxRetriesExceeded_Remote";
    messages->deliver(body_of(other));
    outcome_of("req-2/" + uuid_of("retried"));
    EXPECT_FALSE(record("req-1").freed_room.has_value());
}

TEST_F(TroubledCloudTest, ARequesterThatLeavesDuringSlowDeletionsCostsNoServer) {
    full_host("host1");
    full_host("host2");
    requester("r1");
    requester("r2");
    settings.cull.max_parallel_deletions = 1;
    start();
    // The first deletion keeps the only turn for long; meanwhile the other requester goes.
    bool first = true;
    cloud.on_call = [&](const std::string& call) -> std::optional<Error> {
        if (!call.starts_with("DELETE") || !first) return std::nullopt;
        first = false;
        clock.advance(seconds{20});
        cloud.remove(uuid_of("r2"));
        return std::nullopt;
    };
    messages->deliver(body_of(another("req-1", "r1")));
    messages->deliver(body_of(another("req-2", "r2")));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_EQ(outcome_of("req-2").kind, OutcomeKind::refused);
    EXPECT_EQ(cloud.count("DELETE"), 1U);
}

TEST_F(TroubledCloudTest, AReaperThatStopsWhileTheCloudFailsEndsInTimeAndTellsWhatItCouldNotSee) {
    full_host();
    requester();
    settings.cull.max_parallel_deletions = 1;
    start();
    // After the first deletion no service answers.
    bool down = false;
    cloud.on_call = [&](const std::string& call) -> std::optional<Error> {
        if (down) return Error{Errc::unreachable, "connection refused"};
        down = call.starts_with("DELETE");
        return std::nullopt;
    };
    messages->deliver(body_of(failure(4)));
    run_until([&] { return down; });
    stop_and_join();
    ASSERT_TRUE(record("req-1").outcome.has_value());
    EXPECT_EQ(record("req-1").outcome->kind, OutcomeKind::incomplete);
    EXPECT_EQ(record("req-1").steps.back().step, Step::unseen);
    EXPECT_EQ(cloud.count("DELETE"), 1U);
    EXPECT_LT(cloud.calls.size(), 2'000U);
}

}  // namespace
}  // namespace reaper::test::troubled_cloud_test

// A cloud that fails for a while, or is slow: nothing is lost, and nobody dies by old knowledge.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/full_house.hpp"

namespace reaper::test {
namespace {

using std::chrono::seconds;

class TroubledCloudTest : public FullHouse {};

TEST_F(TroubledCloudTest, DeletionsThatFailForAWhileDelayTheRequestAndNothingElse) {
    full_host();
    requester();
    settings.policy.brakes.breaker.failed = 100;
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

TEST_F(TroubledCloudTest, DeletionsThatKeepFailingOpenTheBreaker) {
    full_host();
    requester();
    start();
    cloud.on_call = [&](const std::string& call) -> std::optional<Error> {
        if (!call.starts_with("DELETE")) return std::nullopt;
        return Error{Errc::server_error, "500 from Nova"};
    };
    messages->deliver(body_of(failure()));
    EXPECT_EQ(outcome_of("req-1").brake, "paused");
    EXPECT_TRUE(pause.paused());
    EXPECT_EQ(cloud.living("host1").size(), 4U);
}

TEST_F(TroubledCloudTest, APlacementThatDoesNotAnswerIsNoFailedDeletion) {
    full_host();
    requester();
    settings.policy.brakes.breaker.failed = 1;
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

TEST_F(TroubledCloudTest, ACloudTooSlowToTrustIsLeftAlone) {
    full_host();
    requester();
    start();
    cloud.on_call = [&](const std::string& call) -> std::optional<Error> {
        if (call.starts_with("server host1")) clock.advance(seconds{6});
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
    messages->deliver(body_of(other));
    EXPECT_NE(outcome_of("req-2").kind, OutcomeKind::freed);
    EXPECT_FALSE(story("req-1").aftermath.has_value());
}

}  // namespace
}  // namespace reaper::test

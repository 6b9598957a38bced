// Messages that Nova did not send, or not so: they cost a request to Nova, and no server is
// deleted.
#include "app/forged_messages.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace reaper::test::forged_messages_test {
namespace {

using ::testing::ElementsAre;

class ForgedMessagesTest : public ForgedMessages {};

TEST_F(ForgedMessagesTest, OfAnActionThatNovaDoesNotKnow) {
    full_host();
    running("victim");
    start();
    messages->deliver(body_of(move_of("victim")));
    expect_unconfirmed("req-1", "knows no action");
    EXPECT_EQ(cloud.count("action req-1"), 3U) << "Nova may write it down slightly later";
    run_until([&] { return all_acknowledged(1); });
}

TEST_F(ForgedMessagesTest, OfABootThatNovaKnowsUnderAnotherId) {
    full_host();
    requester();
    cloud.forgotten.insert("req-1");
    start();
    messages->deliver(body_of(failure()));
    expect_unconfirmed("req-1", "knows no action");
}

TEST_F(ForgedMessagesTest, WhatNovaWritesDownAMomentLaterIsBelieved) {
    full_host();
    requester();
    cloud.forgotten.insert("req-1");
    start();
    cloud.on_call = [&](const std::string&) -> std::optional<Error> {
        if (cloud.count("action req-1") == 2) cloud.forgotten.clear();
        return std::nullopt;
    };
    messages->deliver(body_of(failure()));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
}

TEST_F(ForgedMessagesTest, AMoveThatIsUnderWayIsAskedForUntilItIsOver) {
    full_host();
    running("mover");
    resize_failed("req-1");
    ActionRecord& action = cloud.recorded_actions["req-1"];
    action.ended = action.failed = false;
    start();
    messages->deliver(body_of(move_of("mover")));
    run_until([&] { return cloud.count("action req-1") > 10; });
    EXPECT_EQ(cloud.count("DELETE"), 0U);
    EXPECT_FALSE(journal.records.contains(RequestId{"req-1"}));
    action.ended = true;  // and it went well
    expect_unconfirmed("req-1", "did not fail");
}

TEST_F(ForgedMessagesTest, TheNumberOfServersIsNovas) {
    full_host();
    for (const char* id : {"r1", "r2"}) requester(id);
    requester("another");
    cloud.server_at(uuid_of("another")).record.reservation = "r-2";
    start();
    NovaFailure forged = another("req-1", "r1");
    forged.num_instances = 4;
    messages->deliver(body_of(forged));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_EQ(record("req-1").request.slots, 2);
    EXPECT_THAT(record("req-1").request.requesters,
                ElementsAre(ServerId{uuid_of("r1")}, ServerId{uuid_of("r2")}));
    EXPECT_EQ(cloud.count("DELETE"), 2U);
}

TEST_F(ForgedMessagesTest, TheFlavorAndTheProjectOfABootAreNovas) {
    full_host();
    requester();
    start();
    NovaFailure forged = failure();
    forged.vcpus = 8;
    forged.project = "another";
    messages->deliver(body_of(forged));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_EQ(record("req-1").request.project, ProjectId{"regular"});
    EXPECT_EQ(cloud.count("DELETE"), 1U);
}

TEST_F(ForgedMessagesTest, ARevocableServerStaysOneWhateverTheProjectOfTheMessage) {
    full_host();
    requester("requester-1", "spot");
    start();
    messages->deliver(body_of(failure()));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::refused);
    EXPECT_EQ(cloud.count("DELETE"), 0U);
}

TEST_F(ForgedMessagesTest, AResizeIsToAFlavorThatNovaKnows) {
    full_host();
    running("mover");
    resize_failed("req-1");
    cloud.flavors.clear();
    start();
    messages->deliver(body_of(move_of("mover")));
    expect_unconfirmed("req-1", "knows no flavor 'f'");
}

TEST_F(ForgedMessagesTest, TheSizeOfTheFlavorOfAResizeIsNovas) {
    full_host();
    running("mover");
    resize_failed("req-1");
    start();
    NovaFailure forged = move_of("mover");
    forged.vcpus = 8;
    messages->deliver(body_of(forged));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_EQ(cloud.count("DELETE"), 2U);
}

TEST_F(ForgedMessagesTest, MessagesOfAResizeThatContradictEachOtherAreNotBelieved) {
    full_host();
    running("mover");
    resize_failed("req-1");
    start();
    NovaFailure forged = move_of("mover");
    forged.flavor_id = "huge";
    messages->deliver(body_of(forged));
    messages->deliver(body_of(move_of("mover")));
    cloud.flavors["huge"] = Flavor{"huge", 8, 2048, 20, 0, 0, {}};
    const Outcome& outcome = outcome_of("req-1");
    EXPECT_EQ(outcome.kind, OutcomeKind::refused);
    EXPECT_EQ(outcome.safeguard, "contradicted");
    EXPECT_THAT(outcome.reason, ::testing::HasSubstr("different flavors"));
    EXPECT_EQ(cloud.count("DELETE"), 0U);
}

TEST_F(ForgedMessagesTest, AnOldRequestWithACurrentTime) {
    full_host();
    requester();
    settings.trigger.max_age = std::chrono::minutes{10};
    cloud.server_at(uuid_of("requester-1")).record.fault->created =
        clock.now() - std::chrono::minutes{11};
    start();
    messages->deliver(body_of(failure()));
    expect_unconfirmed("req-1", "ago");
}

TEST_F(ForgedMessagesTest, ATimeToComeIsNotWaitedFor) {
    full_host();
    requester();
    settings.trigger.max_age = std::chrono::minutes{10};
    start();
    cloud.on_call = [](const std::string& call) -> std::optional<Error> {
        if (call.starts_with("server ")) return Error{Errc::server_error, "nova: 503"};
        return std::nullopt;
    };
    NovaFailure forged = failure();
    forged.timestamp = "2036-11-20 00:00:00.000000";
    messages->deliver(body_of(forged));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::failed);
}

TEST_F(ForgedMessagesTest, AnInvalidNewerFailureDoesNotReplaceAnother) {
    full_host();
    requester();
    cloud.forgotten.insert("req-2");
    start();
    NovaFailure newer = failure();
    newer.request_id = "req-2";
    newer.timestamp = "2026-11-20 00:00:05.000000";
    messages->deliver(body_of(newer));
    messages->deliver(body_of(failure()));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_EQ(outcome_of("req-2").safeguard, "unconfirmed");
}

TEST_F(ForgedMessagesTest, AServedRequestIsNotServedUnderTheKeyOfExhaustedRetries) {
    full_host();
    requester();
    start();
    messages->deliver(body_of(failure()));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    NovaFailure forged = failure();
    forged.exception = "MaxRetriesExceeded_Remote";
    messages->deliver(body_of(forged));
    EXPECT_EQ(outcome_of("req-1/" + uuid_of("requester-1")).safeguard, "unconfirmed");
    EXPECT_EQ(cloud.count("DELETE"), 1U);
}

}  // namespace
}  // namespace reaper::test::forged_messages_test

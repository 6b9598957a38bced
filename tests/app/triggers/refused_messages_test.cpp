// A refused request has no effect on others: not after a crash, not under a known request id.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/forged_messages.hpp"

namespace reaper::test::refused_messages_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class RefusedMessagesTest : public ForgedMessages {};

// ---- refused, and the reaper dies ----

TEST_F(RefusedMessagesTest, WhatIsRefusedIsNotServedAfterACrash) {
    full_host();
    running("mover");
    journal.fails = [](const std::string& what) { return what.starts_with("finish "); };
    start();
    const std::string forged = body_of(large(move_of("mover")));
    messages->deliver(forged);
    run_until([&] { return !journal.written.empty(); });
    crash();
    journal.fails = {};
    start();
    messages->deliver(forged, true);
    run_until([&] { return all_acknowledged(1); });
    expect_unconfirmed("req-1", "knows no action");
}

TEST_F(RefusedMessagesTest, WhatTheJournalHasWithoutAPlanIsConfirmedAgain) {
    full_host();
    running("mover");
    Request bare;
    bare.id = RequestId{"req-1"};
    bare.operation = Operation::migrate;
    bare.project = ProjectId{"regular"};
    bare.resources = small * 4;
    bare.requesters = {ServerId{uuid_of("mover")}};
    bare.sent_at = clock.now();
    bare.deadline = clock.now() + std::chrono::hours{1};
    journal.records[bare.id].request = bare;
    start();
    messages->deliver(body_of(large(move_of("mover"))), true);
    expect_unconfirmed("req-1", "knows no action");
    run_until([&] { return all_acknowledged(1); });
}

TEST_F(RefusedMessagesTest, WhatTheJournalHasWithoutAPlanIsServedAsNovaTellsItNow) {
    full_host();
    requester();
    Request bare;
    bare.id = RequestId{"req-1"};
    bare.resources = small * 4;
    bare.requesters = {ServerId{uuid_of("requester-1")}};
    bare.sent_at = clock.now();
    bare.deadline = clock.now() + std::chrono::hours{1};
    journal.records[bare.id].request = bare;
    start();
    messages->deliver(body_of(failure()), true);
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_EQ(record("req-1").request.resources, small);
    EXPECT_EQ(cloud.count("DELETE"), 1U);
}

TEST_F(RefusedMessagesTest, WhatTheJournalHasWithoutAPlanEndsWhenItsMessageDoesNotCome) {
    full_host();
    requester();
    Request bare;
    bare.id = RequestId{"req-1"};
    bare.requesters = {ServerId{uuid_of("requester-1")}};
    bare.sent_at = clock.now();
    bare.deadline = clock.now() + std::chrono::minutes{1};
    journal.records[bare.id].request = bare;
    start();
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::handed_over);
}

// ---- an id that the journal has ----

TEST_F(RefusedMessagesTest, UnderAnIdThatWasServedItTakesNoOthersPlace) {
    full_host();
    requester();
    requester("another");
    start();
    messages->deliver(body_of(another("req-0", "another")));
    EXPECT_EQ(outcome_of("req-0").kind, OutcomeKind::freed);
    NovaFailure newer = failure();
    newer.request_id = "req-0";
    newer.timestamp = "2026-11-20 00:00:05.000000";
    messages->deliver(body_of(newer));
    messages->deliver(body_of(failure()));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_EQ(cloud.count("DELETE"), 2U);
}

TEST_F(RefusedMessagesTest, UnderAnIdThatWasRefusedItTakesNoOthersPlace) {
    full_host();
    requester();
    cloud.forgotten.insert("req-2");
    start();
    NovaFailure newer = failure();
    newer.request_id = "req-2";
    newer.timestamp = "2026-11-20 00:00:05.000000";
    messages->deliver(body_of(newer));
    EXPECT_EQ(outcome_of("req-2").safeguard, "unconfirmed");
    messages->deliver(body_of(newer));
    messages->deliver(body_of(failure()));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
}

// ---- an id that was burnt ----

TEST_F(RefusedMessagesTest, ARefusalSettlesNoMessageOfAnotherServer) {
    full_host();
    requester();
    start();
    messages->deliver(body_of(another("req-1", "no-such")));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::refused);
    messages->deliver(body_of(failure()));
    run_until([&] { return all_acknowledged(2); });
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_THAT(record("req-1").request.requesters, ElementsAre(ServerId{uuid_of("requester-1")}));
    ASSERT_FALSE(journal.notes.empty());
    EXPECT_EQ(journal.notes[0].verdict, "retried");
    EXPECT_THAT(journal.notes[0].reason, HasSubstr("is gone"));
    for (const auto& again : {failure(), another("req-1", "no-such")})
        messages->deliver(body_of(again));
    run_until([&] { return all_acknowledged(4); });
    EXPECT_EQ(cloud.count("DELETE"), 1U);
}

TEST_F(RefusedMessagesTest, ARefusalSettlesNoMessageOfAnotherServerThatCameMeanwhile) {
    full_host();
    requester();
    start();
    messages->deliver(body_of(another("req-1", "no-such")));
    messages->deliver(body_of(failure()));
    run_until([&] { return all_acknowledged(2); });
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_EQ(cloud.count("DELETE"), 1U);
}

TEST_F(RefusedMessagesTest, ARefusalSettlesNoMessageOfAnotherServerAfterACrash) {
    full_host();
    requester();
    start();
    messages->deliver(body_of(another("req-1", "no-such")));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::refused);
    crash();
    start();
    messages->deliver(body_of(failure()), true);
    run_until([&] { return all_acknowledged(1); });
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
}

TEST_F(RefusedMessagesTest, ARefusalSettlesNoOthersRequestThatWasInterrupted) {
    full_host();
    requester();
    Request left;
    left.id = RequestId{"req-1"};
    left.resources = small;
    left.requesters = {ServerId{uuid_of("requester-1")}};
    left.sent_at = clock.now();
    left.deadline = clock.now() + std::chrono::hours{1};
    journal.records[left.id].request = left;
    start();
    messages->deliver(body_of(another("req-1", "no-such")));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::refused);
    messages->deliver(body_of(failure()), true);
    run_until([&] { return all_acknowledged(2); });
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
}

TEST_F(RefusedMessagesTest, OneThatCameTooEarlyDoesNotSettleNovasOwn) {
    full_host();
    requester();
    cloud.server_at(uuid_of("requester-1")).record.server.status = "BUILD";
    start();
    NovaFailure early = failure();
    early.timestamp = "2026-11-19 23:59:59.000000";
    messages->deliver(body_of(early));
    expect_unconfirmed("req-1", "knows no action");
    cloud.server_at(uuid_of("requester-1")).record.server.status = "ERROR";
    messages->deliver(body_of(failure()));
    run_until([&] { return all_acknowledged(2); });
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
}

TEST_F(RefusedMessagesTest, OfSeveralServersOneThatIsGoneSettlesNoOther) {
    full_host();
    for (const char* id : {"r2", "r3"}) requester(id);
    start();
    for (const char* id : {"r1", "r2", "r3"}) {
        NovaFailure one = failure();
        one.server = id;
        one.spec_server = "r1";
        one.num_instances = 3;
        messages->deliver(body_of(one));
    }
    run_until([&] { return all_acknowledged(3); });
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_EQ(record("req-1").request.slots, 2);
    EXPECT_EQ(cloud.count("DELETE"), 2U);
}

TEST_F(RefusedMessagesTest, AResizeOfAnotherServerContradictsNone) {
    full_host();
    running("mover");
    resize_failed("req-1");
    start();
    NovaFailure forged = move_of("no-such");
    forged.flavor_id = "huge";
    messages->deliver(body_of(forged));
    messages->deliver(body_of(move_of("mover")));
    run_until([&] { return all_acknowledged(2); });
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
}

TEST_F(RefusedMessagesTest, OnesThatContradictEachOtherAreNotBelievedOneByOneEither) {
    full_host();
    running("mover");
    resize_failed("req-1");
    cloud.flavors["huge"] = Flavor{"huge", 8, 2048, 20, 0, 0, {}};
    start();
    NovaFailure forged = move_of("mover");
    forged.flavor_id = "huge";
    messages->deliver(body_of(move_of("mover")));
    messages->deliver(body_of(forged));
    run_until([&] { return all_acknowledged(2); });
    messages->deliver(body_of(forged));
    run_until([&] { return all_acknowledged(3); });
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::refused);
    EXPECT_EQ(cloud.count("DELETE"), 0U);
}

}  // namespace
}  // namespace reaper::test::refused_messages_test

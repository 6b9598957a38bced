// Unshelvings that found no host: Nova sends no message, so the reaper looks for them.
#include <gtest/gtest.h>

#include "app/full_house.hpp"

namespace reaper::test::unshelve_test {
namespace {

class UnshelveTest : public FullHouse {
protected:
    UnshelveTest() { settings.trigger.unshelve_interval = std::chrono::seconds{10}; }

    ServerId shelved() {
        Flavor flavor;
        flavor.name = "small";
        flavor.vcpus = 2;
        flavor.memory_mb = 2048;
        flavor.root_gb = 20;
        requester("shelved");
        FakeServer& server = cloud.server_at(uuid_of("shelved"));
        server.record.flavor = flavor;
        server.record.server.status = "SHELVED_OFFLOADED";
        return server.record.server.id;
    }
    ActionRecord action(const std::string& name, bool failed, const std::string& request) {
        ActionRecord made;
        made.name = name;
        made.request = RequestId{request};
        made.failed = failed;
        made.started = clock.now();
        return made;
    }
};

TEST_F(UnshelveTest, RoomIsFreedForAnUnshelvingThatFoundNoHost) {
    full_host();
    cloud.histories[shelved()] = {action("unshelve", true, "req-u")};
    start();
    EXPECT_EQ(outcome_of("req-u").kind, OutcomeKind::freed);
    EXPECT_EQ(record("req-u").request.operation, Operation::unshelve);
    EXPECT_EQ(cloud.count("DELETE"), 1U);
    // Found again and again, it is reported once.
    pass(std::chrono::minutes{2});
    EXPECT_EQ(cloud.count("DELETE"), 1U);
    EXPECT_TRUE(journal.notes.empty());
}

TEST_F(UnshelveTest, AReaperThatStandsByLeavesThemToTheOther) {
    full_host();
    settings.cull.deadline = std::chrono::minutes{1};
    cloud.histories[shelved()] = {action("unshelve", true, "req-u")};
    start();
    messages->serves = false;
    pass(std::chrono::minutes{3});
    // The other one had time to serve it.
    messages->serves = true;
    pass(std::chrono::minutes{2});
    EXPECT_TRUE(journal.records.empty());
    EXPECT_EQ(cloud.count("DELETE"), 0U);
}

TEST_F(UnshelveTest, WhatTheOtherHadNoTimeForIsServedByItsSuccessor) {
    full_host();
    cloud.histories[shelved()] = {action("unshelve", true, "req-u")};
    start();
    messages->serves = false;
    pass(Duration{15'000});
    messages->serves = true;
    EXPECT_EQ(outcome_of("req-u").kind, OutcomeKind::freed);
}

TEST_F(UnshelveTest, WhatIsInFlightWhenTheQueueIsLostGoesOnWhenItIsOursAgain) {
    full_host();
    cloud.histories[shelved()] = {action("unshelve", true, "req-u")};
    start();
    run_until([&] { return journal.records.contains(RequestId{"req-u"}); });
    messages->disconnect();
    pass(Duration{30'000});
    EXPECT_EQ(cloud.count("DELETE"), 0U);
    messages->reconnect();
    EXPECT_EQ(outcome_of("req-u").kind, OutcomeKind::freed);
    EXPECT_EQ(cloud.count("DELETE"), 1U);
}

TEST_F(UnshelveTest, AfterARestartItIsServedToItsEnd) {
    full_host();
    cloud.histories[shelved()] = {action("unshelve", true, "req-u")};
    start();
    run_until([&] { return cloud.count("DELETE") == 1U; });
    crash();
    start();
    EXPECT_EQ(outcome_of("req-u").kind, OutcomeKind::freed);
    EXPECT_EQ(record("req-u").request.source, RequestSource::unshelve);
    EXPECT_EQ(cloud.count("DELETE"), 1U);
}

TEST_F(UnshelveTest, WhatWasServedIsNotServedAgain) {
    full_host();
    cloud.histories[shelved()] = {action("unshelve", true, "req-u")};
    start();
    EXPECT_EQ(outcome_of("req-u").kind, OutcomeKind::freed);
    pass(std::chrono::minutes{2});
    messages->reconnect();
    pass(std::chrono::minutes{2});
    ASSERT_FALSE(journal.notes.empty());
    EXPECT_EQ(journal.notes.back().verdict, "duplicate");
    EXPECT_EQ(cloud.count("DELETE"), 1U);
}

TEST_F(UnshelveTest, FoundAgainAfterARestartItIsADuplicate) {
    full_host();
    cloud.histories[shelved()] = {action("unshelve", true, "req-u")};
    start();
    EXPECT_EQ(outcome_of("req-u").kind, OutcomeKind::freed);
    crash();
    start();
    run_until([&] { return !journal.notes.empty(); });
    EXPECT_EQ(journal.notes.back().verdict, "duplicate");
    EXPECT_EQ(cloud.count("DELETE"), 1U);
}

TEST_F(UnshelveTest, OneThatFoundAHostFailedForAnotherReason) {
    full_host();
    const ServerId id = shelved();
    cloud.histories[id] = {action("unshelve", true, "req-u")};
    with_events = true;
    start();
    run_until([&] { return status.ready; });
    Schedule found;
    found.request = RequestId{"req-u"};
    found.server = id;
    found.ended = true;
    events->tell(found);
    pass(std::chrono::minutes{1});
    EXPECT_TRUE(journal.records.empty());
}

TEST_F(UnshelveTest, OneThatNovaKnowsAnotherCauseForIsLeftAlone) {
    full_host();
    const ServerId id = shelved();
    cloud.histories[id] = {action("unshelve", true, "req-u")};
    cloud.histories[id].front().cause = FailureCause::other;
    start();
    pass(std::chrono::minutes{1});
    EXPECT_TRUE(journal.records.empty());
}

TEST_F(UnshelveTest, OneThatCouldNotBeLookedAtIsLookedAtAgain) {
    full_host();
    const ServerId last = shelved();
    for (int i = 0; i < 450; ++i) {
        FakeServer other = cloud.server_at(last.str());
        other.record.server.id = ServerId{"z" + std::to_string(1000 + i)};
        cloud.add(std::move(other));
    }
    cloud.histories[last] = {action("unshelve", true, "req-u")};
    int failures = 1;
    cloud.on_call = [&](const std::string& call) -> std::optional<Error> {
        if (call == "actions " + last.str() && failures-- > 0)
            return Error{Errc::server_error, "nova is ill"};
        return std::nullopt;
    };
    start();
    EXPECT_EQ(outcome_of("req-u").kind, OutcomeKind::freed);
}

TEST_F(UnshelveTest, NothingIsServedWhileThereIsNoConnection) {
    full_host();
    cloud.histories[shelved()] = {action("unshelve", true, "req-u")};
    start();
    messages->disconnect();
    pass(std::chrono::minutes{7});
    EXPECT_TRUE(journal.records.empty());
    messages->reconnect();
    EXPECT_EQ(outcome_of("req-u").kind, OutcomeKind::freed);
}

TEST_F(UnshelveTest, ManyShelvedServersHideNone) {
    full_host();
    const ServerId last = shelved();
    for (int i = 0; i < 450; ++i) {
        FakeServer other = cloud.server_at(last.str());
        const std::string id = "0" + std::to_string(1000 + i);
        other.record.server.id = ServerId{id};
        cloud.add(std::move(other));
    }
    cloud.histories[last] = {action("unshelve", true, "req-u")};
    start();
    EXPECT_EQ(outcome_of("req-u").kind, OutcomeKind::freed);
}

TEST_F(UnshelveTest, OnlyTheLastActionCounts) {
    full_host();
    auto earlier = action("unshelve", true, "req-u");
    clock.advance(Duration{5'000});
    cloud.histories[shelved()] = {action("shelve", false, "req-s"), earlier};
    start();
    pass(std::chrono::minutes{1});
    EXPECT_FALSE(journal.records.contains(RequestId{"req-u"}));
}

TEST_F(UnshelveTest, OneThatSucceededOrIsUnderWayIsNone) {
    full_host();
    const ServerId id = shelved();
    cloud.histories[id] = {action("unshelve", false, "req-u")};
    start();
    pass(std::chrono::minutes{1});
    cloud.histories[id] = {action("unshelve", true, "req-v")};
    cloud.server_at(id.str()).record.server.task_state = "unshelving";
    pass(std::chrono::minutes{1});
    EXPECT_TRUE(journal.records.empty());
}

TEST_F(UnshelveTest, AnOldFailureIsLeftAlone) {
    full_host();
    const ServerId id = shelved();
    cloud.histories[id] = {action("unshelve", true, "req-u")};
    clock.advance(std::chrono::minutes{11});
    start();
    pass(std::chrono::minutes{1});
    EXPECT_TRUE(journal.records.empty());
}

class AskedAgainTest : public UnshelveTest {
protected:
    AskedAgainTest() {
        settings.trigger.unshelve_again = true;
        full_host();
        id = shelved();
        cloud.histories[id] = {action("unshelve", true, "req-u")};
    }
    std::size_t asked() const { return cloud.count("UNSHELVE"); }

    ServerId id;
};

TEST_F(AskedAgainTest, AServerWhoseRoomIsFreedIsUnshelved) {
    start();
    EXPECT_EQ(outcome_of("req-u").kind, OutcomeKind::freed);
    EXPECT_EQ(asked(), 0U);
    run_until([&] { return asked() == 1; });
    EXPECT_EQ(cloud.server_at(id.str()).record.server.status, "ACTIVE");
    EXPECT_EQ(journal.noted_marks.back().kind, "unshelved-again");
    EXPECT_EQ(journal.noted_marks.back().reason.find("req-u: "), 0U);
    messages->reconnect();
    pass(std::chrono::minutes{5});
    EXPECT_EQ(asked(), 1U);
}

TEST_F(AskedAgainTest, IfNovaFailsAgainNoMoreRoomIsFreed) {
    cloud.shelving.no_host = true;
    start();
    run_until([&] { return asked() == 1; });
    pass(Duration{1'000});
    ASSERT_EQ(cloud.histories[id].size(), 2U);
    for (ActionRecord& each : cloud.histories[id]) each.failed = true;
    pass(std::chrono::minutes{9});
    EXPECT_EQ(asked(), 1U);
    EXPECT_EQ(cloud.count("DELETE"), 1U);
}

TEST_F(AskedAgainTest, AfterARestartItIsNotAskedTwice) {
    cloud.on_call = [](const std::string& call) -> std::optional<Error> {
        if (!call.starts_with("UNSHELVE")) return std::nullopt;
        return Error{Errc::timeout, "no answer"};
    };
    start();
    run_until([&] { return asked() == 1; });
    crash();
    start();
    run_until([&] { return !journal.notes.empty(); });
    pass(std::chrono::minutes{5});
    EXPECT_EQ(asked(), 1U);
}

TEST_F(AskedAgainTest, OneThatItsOwnerAsksForMeanwhileIsLeftAlone) {
    start();
    EXPECT_EQ(outcome_of("req-u").kind, OutcomeKind::freed);
    clock.advance(Duration{1'000});
    auto& history = cloud.histories[id];
    history.insert(history.begin(), action("unshelve", false, "req-v"));
    pass(std::chrono::minutes{5});
    EXPECT_EQ(asked(), 0U);
}

TEST_F(AskedAgainTest, NoneIsAskedForDuringAPauseOrByDefault) {
    start();
    EXPECT_EQ(outcome_of("req-u").kind, OutcomeKind::freed);
    pause.why = "paused by alice";
    pass(std::chrono::minutes{5});
    crash();
    pause.why.reset();
    settings.trigger.unshelve_again = false;
    start();
    pass(std::chrono::minutes{5});
    EXPECT_EQ(asked(), 0U);
}

TEST_F(UnshelveTest, WithoutAnIntervalNothingIsLookedFor) {
    full_host();
    cloud.histories[shelved()] = {action("unshelve", true, "req-u")};
    settings.trigger.unshelve_interval = {};
    start();
    pass(std::chrono::minutes{1});
    EXPECT_EQ(cloud.count("servers in"), 0U);
}

}  // namespace
}  // namespace reaper::test::unshelve_test

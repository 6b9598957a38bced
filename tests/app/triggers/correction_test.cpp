// Corrections: servers go from one host for its sake, by the way of all victims.
#include "reaper/triggers/correction.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/full_house.hpp"

namespace reaper::test::correction_test {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

const std::string reason = "load 7.9 above 6 for 5 minutes on host host1";

Correction correction_of(const FakeCloud& cloud, std::initializer_list<const char*> servers) {
    Correction correction{HostId{cloud.provider_of("host1")}, "host1", {}};
    for (const char* const id : servers) correction.servers.push_back({ServerId{id}, reason});
    return correction;
}

class CorrectionTest : public FullHouse {
protected:
    /// A process before this one took it, and did nothing for it yet.
    void admit(const std::string& id, std::initializer_list<const char*> servers) {
        RequestRecord admitted;
        admitted.received_at = clock.now();
        Request& request = admitted.request;
        request.id = RequestId{id};
        request.operation = Operation::manual;
        request.source = RequestSource::oversubscription;
        request.slots = 0;
        request.sent_at = clock.now();
        request.deadline = clock.now() + CorrectionTrigger::valid_for;
        request.correction = correction_of(cloud, servers);
        journal.records[request.id] = std::move(admitted);
    }
    /// The power goes right after the first deletion of it was heard.
    void start_until_deleted(const std::string& server) {
        start();
        run_until([&] { return deletions_of(server) > 0; });
    }
    std::size_t deletions_of(const std::string& server) const {
        return cloud.count("DELETE " + server);
    }
};

TEST_F(CorrectionTest, ExactlyItsServersGoAndTheJournalTellsWhy) {
    full_host();
    admit("qos-1", {"host1b", "host1d"});
    start();
    EXPECT_EQ(outcome_of("qos-1").kind, OutcomeKind::freed);
    EXPECT_THAT(cloud.living("host1"), UnorderedElementsAre("host1a", "host1c"));
    const auto gone = victims_of(record("qos-1"));
    ASSERT_EQ(gone.size(), 2U);
    EXPECT_EQ(gone.front().host, "host1");
    for (const StepEntry& step : record("qos-1").steps)
        if (step.step == Step::delete_sent) {
            EXPECT_THAT(step.detail, HasSubstr(reason));
        }
}

TEST_F(CorrectionTest, AnUnfitServerStaysWithoutReplacementAndTheOthersGo) {
    full_host();
    admit("qos-1", {"host1a", "host1b"});
    before("server host1", [&] { cloud.server_at("host1a").record.server.locked = true; });
    start();
    EXPECT_EQ(outcome_of("qos-1").kind, OutcomeKind::freed);
    EXPECT_THAT(outcome_of("qos-1").reason, HasSubstr("host1a) stays: it is locked"));
    EXPECT_THAT(cloud.living("host1"), UnorderedElementsAre("host1a", "host1c", "host1d"));
}

TEST_F(CorrectionTest, WhoMovedOrVanishedMeanwhileIsLeftAlone) {
    full_host();
    cloud.add_host("host2", small * 4);
    admit("qos-1", {"host1a", "host1b", "host1c"});
    before("server host1", [&] {
        cloud.remove("host1b");
        FakeServer& moved = cloud.server_at("host1a");
        moved.record.server.host = SharedText{"host2"};
        moved.provider = HostId{cloud.provider_of("host2")};
    });
    start();
    EXPECT_EQ(outcome_of("qos-1").kind, OutcomeKind::freed);
    EXPECT_EQ(deletions_of("host1a"), 0U);
    EXPECT_EQ(deletions_of("host1b"), 0U);
    EXPECT_EQ(deletions_of("host1c"), 1U);
    EXPECT_TRUE(cloud.exists("host1a"));
}

TEST_F(CorrectionTest, WhereAllAreProtectedNoServerIsDeletedAndTheSafeguardIsNamed) {
    full_host();
    settings.policy.safeguards.protect.projects = {"spot"};
    admit("qos-1", {"host1a"});
    start();
    EXPECT_EQ(outcome_of("qos-1").kind, OutcomeKind::not_enough);
    EXPECT_EQ(outcome_of("qos-1").safeguard, "protected");
    EXPECT_EQ(cloud.count("DELETE"), 0U);
}

TEST_F(CorrectionTest, TwoOfOneHostEvictAServerOnce) {
    full_host();
    admit("qos-1", {"host1a", "host1b"});
    admit("qos-2", {"host1b", "host1c"});
    start();
    outcome_of("qos-1");
    outcome_of("qos-2");
    for (const char* const id : {"host1a", "host1b", "host1c"}) EXPECT_EQ(deletions_of(id), 1U);
    EXPECT_THAT(cloud.living("host1"), UnorderedElementsAre("host1d"));
}

TEST_F(CorrectionTest, ItSharesTheHostWithARegularRequest) {
    full_host();
    requester();
    admit("qos-1", {"host1a", "host1b", "host1c"});
    start();
    messages->deliver(body_of(failure()));
    outcome_of("req-1");
    outcome_of("qos-1");
    EXPECT_THAT(cloud.living("host1"), UnorderedElementsAre("host1d"));
    EXPECT_EQ(cloud.count("DELETE"), 3U) << "the second one counts what the first one frees";
}

TEST_F(CorrectionTest, ItsRoomIsNotWatchedAndCountsAgainstNoProject) {
    full_host();
    settings.policy.safeguards.breaker.wasted = 1;
    settings.policy.safeguards.breaker.projects = 1;
    settings.policy.safeguards.project_breaker = {1, 1, {hours{1}, hours{1}}};
    settings.policy.safeguards.shape_cooldown = {1, {hours{1}, hours{1}}};
    settings.policy.safeguards.host_cooldown = hours{1};
    admit("qos-1", {"host1a"});
    start();
    outcome_of("qos-1");
    pass(settings.cull.watch + minutes{10});
    EXPECT_FALSE(record("qos-1").freed_room);
    EXPECT_FALSE(breaker.paused());
    crash();
    admit("qos-2", {"host1b"});
    start();
    EXPECT_EQ(outcome_of("qos-2").kind, OutcomeKind::freed) << "nothing of the first one stays";
}

TEST_F(CorrectionTest, ARestartInTheMiddleFinishesItAndDeletesNoServerTwice) {
    full_host();
    admit("qos-1", {"host1a", "host1b"});
    start_until_deleted("host1a");
    crash();
    start();
    EXPECT_EQ(outcome_of("qos-1").kind, OutcomeKind::freed);
    EXPECT_LE(deletions_of("host1a"), 1U);
    EXPECT_LE(deletions_of("host1b"), 1U);
    EXPECT_THAT(cloud.living("host1"), UnorderedElementsAre("host1c", "host1d"));
}

TEST_F(CorrectionTest, OneThatIsTooOldAfterARestartIsNotBegun) {
    full_host();
    admit("qos-1", {"host1a"});
    clock.advance(minutes{5});
    start();
    EXPECT_EQ(outcome_of("qos-1").kind, OutcomeKind::failed);
    EXPECT_EQ(cloud.count("DELETE"), 0U);
}

TEST_F(CorrectionTest, OneWhoseLookTookTooLongIsNotBegun) {
    full_host();
    admit("qos-1", {"host1a"});
    cloud.slow[ServerId{"host1a"}] = minutes{2};
    start();
    EXPECT_EQ(outcome_of("qos-1").kind, OutcomeKind::refused);
    EXPECT_THAT(outcome_of("qos-1").reason, HasSubstr("its time is over"));
    EXPECT_EQ(cloud.count("DELETE"), 0U);
}

TEST_F(CorrectionTest, ADryRunReportsAndDeletesNoServer) {
    full_host();
    dry_run = true;
    admit("qos-1", {"host1a", "host1b"});
    start();
    EXPECT_EQ(outcome_of("qos-1").kind, OutcomeKind::dry_run);
    EXPECT_EQ(outcome_of("qos-1").reason, "dry run: 2 victims on 1 host");
    EXPECT_EQ(cloud.count("DELETE"), 0U);
}

TEST_F(CorrectionTest, WhilePausedNoServerIsDeleted) {
    full_host();
    ASSERT_TRUE(pause.pause("an operator", "look"));
    admit("qos-1", {"host1a"});
    start();
    EXPECT_EQ(outcome_of("qos-1").safeguard, "paused");
    EXPECT_EQ(cloud.count("DELETE"), 0U);
}

// ---- the trigger ----

class CorrectionTriggerTest : public ::testing::Test {
protected:
    struct Sink final : RequestSink {
        void submit(TriggeredRequest request) override { all.push_back(std::move(request)); }
        std::vector<TriggeredRequest> all;
    };
    bool submit(Correction correction) {
        return trigger.submit(std::move(correction), CorrectionSource::qos, {});
    }
    static Correction one() { return {HostId{"rp-host1"}, "host1", {{ServerId{"a"}, reason}}}; }

    FakeClock clock;
    FakeMessages messages;
    Sink sink;
    bool stopping = false;
    CorrectionTrigger trigger{{clock, messages, sink, stopping}};
};

TEST_F(CorrectionTriggerTest, WhoServesSubmitsItForAMinute) {
    messages.start({[](Delivery) {}, [](BrokerState) {}});
    EXPECT_TRUE(submit(one()));
    EXPECT_TRUE(submit(one()));
    ASSERT_EQ(sink.all.size(), 2U);
    const Request& request = sink.all.front().request;
    EXPECT_NE(request.id, sink.all.back().request.id);
    EXPECT_THAT(request.id.str(), ::testing::StartsWith("qos-"));
    EXPECT_EQ(request.source, RequestSource::oversubscription);
    EXPECT_EQ(request.slots, 0);
    EXPECT_EQ(request.correction, one());
    EXPECT_EQ(request.deadline, clock.now() + seconds{60});
    EXPECT_TRUE(sink.all.front().lease->held());
    messages.serves = false;
    EXPECT_FALSE(sink.all.front().lease->held());
}

TEST_F(CorrectionTriggerTest, NothingIsSubmittedIfEmptyOrOnStandbyOrAtTheEnd) {
    EXPECT_FALSE(submit(one())) << "not connected";
    messages.start({[](Delivery) {}, [](BrokerState) {}});
    EXPECT_FALSE(submit({HostId{"rp-host1"}, "host1", {}}));
    stopping = true;
    EXPECT_FALSE(submit(one()));
    EXPECT_TRUE(sink.all.empty());
}

}  // namespace
}  // namespace reaper::test::correction_test

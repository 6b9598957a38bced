// What owners of revocable servers do to them does not keep them from going; what an administrator
// or an operator does, does.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/full_house.hpp"
#include "reaper/cloud/reader/lock_holders.hpp"

namespace reaper::test::owners_test {
namespace {

using ::testing::HasSubstr;

class OwnersTest : public FullHouse {
protected:
    /// Of all four: each is needed.
    void each(const std::function<void(const std::string&)>& change) {
        full_host();
        requester();
        for (const char* n : {"a", "b", "c", "d"}) change(std::string{"host1"} + n);
    }
    /// Its guest does not, since then.
    void stops(const std::string& id, Duration ago) {
        cloud.server_at(id).record.server.task_state = "powering-off";
        ActionRecord stop;
        stop.name = "stop";
        stop.project = ProjectId{"spot"};
        stop.started = clock.now() - ago;
        cloud.histories[ServerId{id}] = {stop};
    }
    const Outcome& served(int vcpus = 8) {
        start();
        messages->deliver(body_of(failure(vcpus)));
        return outcome_of("req-1");
    }
};

TEST_F(OwnersTest, TheirLocksDoNotKeepServersFromGoing) {
    each([&](const std::string& id) { cloud.lock(id, "spot"); });
    EXPECT_EQ(served().kind, OutcomeKind::freed) << outcome_of("req-1").reason;
    EXPECT_EQ(cloud.count("DELETE"), 4U);
}

TEST_F(OwnersTest, TheirTagsAndMetadataDoNot) {
    each([&](const std::string& id) {
        Server& server = cloud.server_at(id).record.server;
        server.tags = std::set<std::string>{"reaper-protected"};
        server.metadata.insert_or_assign("reaper:protected", "true");
    });
    EXPECT_EQ(served().kind, OutcomeKind::freed) << outcome_of("req-1").reason;
    EXPECT_EQ(cloud.count("DELETE"), 4U);
}

TEST_F(OwnersTest, WhatTheyKeepThemBusyWithDoesNot) {
    const std::vector<std::pair<std::string, std::string>> states{{"VERIFY_RESIZE", ""},
                                                                  {"ACTIVE", "image_uploading"},
                                                                  {"BUILD", "spawning"},
                                                                  {"RESCUE", ""}};
    std::size_t next = 0;
    each([&](const std::string& id) {
        Server& server = cloud.server_at(id).record.server;
        server.status = states[next].first;
        server.task_state = states[next++].second;
    });
    EXPECT_EQ(served().kind, OutcomeKind::freed) << outcome_of("req-1").reason;
    EXPECT_EQ(cloud.count("DELETE"), 4U);
}

/// A host full of regular servers and what an unconfirmed resize left behind there.
TEST_F(OwnersTest, WhatAnUnconfirmedResizeHoldsOnItsOldHostComesFreeWithItsServer) {
    for (const char* host : {"host1", "host2"}) {
        cloud.add_host(host, small * 2);
        cloud.add_server(std::string{"regular-"} + host, host, "regular", small);
    }
    cloud.add_server("resized", "host2", "spot", small);
    cloud.leave_behind("resized", "host1", small);
    // The new host is of no use to the request.
    cloud.services["host2"] = {"host2", "nova", false, true, "maintenance"};
    requester();
    EXPECT_EQ(served(2).kind, OutcomeKind::freed) << outcome_of("req-1").reason;
    EXPECT_FALSE(cloud.exists("resized"));
    EXPECT_EQ(cloud.count("DELETE"), 1U);
    EXPECT_TRUE(journal.has_step("resized", Step::gone));
    const auto& plans = journal.records.at(RequestId{"req-1"}).plans;
    const auto& plan = std::get<Plan>(plans.back().decision);
    EXPECT_EQ(plan.victims().front().holder(), ServerId{"migration-resized"});
    EXPECT_EQ(plan.hosts.front().host_name, "host1");
}

TEST_F(OwnersTest, AResizeThatWasConfirmedSinceThePlanLeftNothingBehind) {
    for (const char* host : {"host1", "host2"}) cloud.add_host(host, small);
    cloud.add_server("resized", "host2", "spot", small);
    cloud.leave_behind("resized", "host1", small);
    cloud.services["host2"] = {"host2", "nova", false, true, "maintenance"};
    requester();
    before("allocations migration-resized", [this] {
        cloud.server_at("resized").record.server.status = "ACTIVE";
        cloud.consumers.clear();
        cloud.resizes.clear();
    });
    EXPECT_EQ(served(2).kind, OutcomeKind::already_there) << outcome_of("req-1").reason;
    EXPECT_TRUE(cloud.exists("resized"));
    EXPECT_EQ(cloud.count("DELETE"), 0U);
}

/// Nova confirms a resize before it deletes the server, on the host that it came from.
TEST_F(OwnersTest, OneWhoseResizeCantBeConfirmedStays) {
    cloud.add_host("host1", small);
    cloud.add_host("host2", small);
    cloud.add_server("resized", "host2", "spot", small);
    cloud.leave_behind("resized", "host1", small);
    cloud.services.at("host1").up = false;
    requester();
    EXPECT_EQ(served(2).kind, OutcomeKind::not_enough);
    EXPECT_EQ(cloud.count("DELETE"), 0U);
    cloud.services.at("host1").enabled = false;
    cloud.services.at("host1").up = true;
    requester("requester-2");
    before("allocations resized", [this] { cloud.services.at("host1").up = false; });
    messages->deliver(body_of(another("req-2", "requester-2")));
    EXPECT_NE(outcome_of("req-2").kind, OutcomeKind::freed);
    EXPECT_EQ(cloud.count("DELETE"), 0U);
    EXPECT_TRUE(journal.has_step("resized", Step::skipped));
}

/// Resized to a flavor that is not revocable: what it left behind does not make it so.
TEST_F(OwnersTest, WhatItLeftBehindMakesNoServerRevocable) {
    settings.policy.taggers = {{"resource", {}}};
    for (const char* host : {"host1", "host2"}) cloud.add_host(host, small);
    cloud.add_server("resized", "host2", "regular", small);
    Resources spot = small;
    spot.set(ResourceClass{"CUSTOM_PREEMPTIBLE"}, 1);
    cloud.leave_behind("resized", "host1", spot);
    requester();
    EXPECT_NE(served(2).kind, OutcomeKind::freed);
    EXPECT_EQ(cloud.count("DELETE"), 0U);
}

TEST_F(OwnersTest, WhereTheConfigurationLetsThemTheyRefuse) {
    settings.policy.safeguards.protect.owners = true;
    each([&](const std::string& id) {
        if (id == "host1a") cloud.lock(id, "spot");
    });
    EXPECT_EQ(served().kind, OutcomeKind::not_enough);
    EXPECT_EQ(outcome_of("req-1").safeguard, "protected");
    EXPECT_EQ(cloud.count("DELETE"), 0U);
    EXPECT_EQ(cloud.count("actions"), 0U) << "whose lock it is makes no difference";
}

TEST_F(OwnersTest, AnAdministratorsLockKeepsAServerAndIsRemembered) {
    each([&](const std::string& id) { cloud.lock(id, id == "host1c" ? "admin" : "spot"); });
    EXPECT_EQ(served().kind, OutcomeKind::not_enough);
    EXPECT_EQ(cloud.count("DELETE"), 0U);
    const auto asked = cloud.count("actions host1c");
    EXPECT_EQ(asked, 1U) << "before the plan, and no more";

    requester("requester-2");
    messages->deliver(body_of(another("req-2", "requester-2")));
    EXPECT_EQ(outcome_of("req-2").kind, OutcomeKind::freed);
    EXPECT_TRUE(cloud.exists("host1c"));
    EXPECT_EQ(cloud.count("DELETE"), 1U);
    EXPECT_EQ(cloud.count("actions host1c"), asked) << "it was not planned for again";
}

TEST_F(OwnersTest, ALockThatNovaDoesNotExplainIsTakenToBeAnAdministrators) {
    each([&](const std::string& id) {
        if (id == "host1b") cloud.server_at(id).record.server.locked = true;
    });
    EXPECT_EQ(served().kind, OutcomeKind::not_enough);
    const auto& plans = journal.records.at(RequestId{"req-1"}).plans;
    ASSERT_FALSE(plans.empty());
    const auto* const less = std::get_if<NotEnough>(&plans.back().decision);
    ASSERT_NE(less, nullptr);
    ASSERT_FALSE(less->rejected.empty());
    EXPECT_THAT(less->rejected.front().reason, HasSubstr("Nova does not show by whom"));
}

/// An administrator locks over its owner's lock, which Nova's list shows as before.
TEST_F(OwnersTest, AnAdministratorsLockThatComesAfterThePlanCounts) {
    each([&](const std::string& id) { cloud.lock(id, "spot"); });
    before("allocations host1a", [this] { cloud.lock("host1a", "admin"); });
    EXPECT_EQ(served().kind, OutcomeKind::not_enough);
    EXPECT_EQ(cloud.count("DELETE"), 0U);
    EXPECT_TRUE(journal.has_step("host1a", Step::skipped));
}

TEST_F(OwnersTest, FlavorsAndAggregatesThatAreProtectedStayAlsoWhenTheyComeAfterThePlan) {
    settings.policy.safeguards.protect.flavors = {"gold"};
    settings.policy.safeguards.protect.aggregates = {"quiet"};
    full_host();
    requester();
    cloud.server_at("host1a").record.server.flavor_name = "gold";
    cloud.server_at("host1a").record.flavor.name = "gold";
    before("allocations host1", [this] {
        cloud.host_aggregates.push_back({"uuid-quiet", "quiet", {"host1"}, {}});
    });
    start();
    messages->deliver(body_of(failure(2)));
    EXPECT_NE(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_EQ(cloud.count("DELETE"), 0U);
}

TEST_F(OwnersTest, ItsRunningTimeBeginsAtItsCreationWhateverItsOwnerHasItDo) {
    settings.policy.safeguards.protect.min_run_time = std::chrono::hours{1};
    each([&](const std::string& id) {
        Server& server = cloud.server_at(id).record.server;
        server.created = clock.now() - std::chrono::hours{2};
        server.launched = clock.now() - std::chrono::minutes{1};  // it was resized, or rebuilt
    });
    EXPECT_EQ(served().kind, OutcomeKind::freed) << outcome_of("req-1").reason;
}

/// While a guest shuts down, for as long as its image says, Nova does not delete it.
TEST_F(OwnersTest, NoPlanRestsOnAServerWhoseStopDoesNotEnd) {
    each([&](const std::string& id) {
        if (id == "host1c") stops(id, std::chrono::minutes{2});
        if (id == "host1d") stops(id, std::chrono::seconds{0});
    });
    EXPECT_EQ(served().kind, OutcomeKind::not_enough);
    EXPECT_EQ(cloud.count("DELETE"), 0U);
    requester("requester-2");
    messages->deliver(body_of(another("req-2", "requester-2")));
    EXPECT_EQ(outcome_of("req-2").kind, OutcomeKind::freed) << outcome_of("req-2").reason;
    EXPECT_TRUE(cloud.exists("host1c"));
}

TEST_F(OwnersTest, AStopThatHangsSinceThePlanIsSeenBeforeAnyServerGoes) {
    each([](const std::string&) {});
    before("allocations host1a", [this] { stops("host1a", std::chrono::minutes{2}); });
    EXPECT_EQ(served().kind, OutcomeKind::not_enough);
    EXPECT_EQ(cloud.count("DELETE"), 0U);
    EXPECT_TRUE(journal.has_step("host1a", Step::skipped));
}

ActionRecord done(const std::string& name, const std::string& project, bool failed = false) {
    ActionRecord action;
    action.name = name;
    action.project = ProjectId{project};
    action.failed = failed;
    return action;
}

TEST(LockHolders, OnlyAStopOfItsOwnersKeepsAServer) {
    const ProjectId owner{"spot"};
    const TimePoint now{std::chrono::minutes{2}};
    EXPECT_TRUE(why_stop_hangs(owner, {done("stop", "spot")}, now));
    EXPECT_FALSE(why_stop_hangs(owner, {done("stop", "services")}, now)) << "of the reaper, say";
    EXPECT_FALSE(why_stop_hangs(owner, {done("stop", "spot")}, TimePoint{std::chrono::minutes{1}}));
}

TEST(LockHolders, TheNewestLockThatWasDoneTellsWhoHoldsIt) {
    const ProjectId owner{"spot"};
    EXPECT_EQ(lock_holder(owner, {done("lock", "spot")}), LockHolder::owner);
    EXPECT_EQ(lock_holder(owner, {done("lock", "admin")}), LockHolder::administrator);
    EXPECT_EQ(lock_holder(owner, {done("lock", "")}), LockHolder::administrator) << "the system's";
    EXPECT_EQ(
        lock_holder(owner, {done("reboot", "spot"), done("lock", "admin"), done("lock", "spot")}),
        LockHolder::administrator);
    EXPECT_EQ(
        lock_holder(owner, {done("lock", "spot"), done("unlock", "admin"), done("lock", "admin")}),
        LockHolder::owner);
    EXPECT_EQ(lock_holder(owner, {done("lock", "spot", true), done("lock", "admin")}),
              LockHolder::administrator)
        << "one that failed changed nothing";
    EXPECT_EQ(lock_holder(owner, {}), LockHolder::unknown);
    EXPECT_EQ(lock_holder(owner, {done("unlock", "spot")}), LockHolder::unknown);
}

}  // namespace
}  // namespace reaper::test::owners_test

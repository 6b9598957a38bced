// What the failure message loses and decides where the requester can land: read from the server,
// its group and the search for hosts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/full_house.hpp"

namespace reaper::test::placement_constraints_test {
namespace {

using ::testing::HasSubstr;

class LandingTest : public FullHouse {
protected:
    /// Two full hosts; a member of the group is on the first.
    void group_on_host1(const std::string& policy) {
        full_host("host1");
        full_host("host2");
        cloud.server_at("host1a").record.server.project = ProjectId{"regular"};
        requester();
        cloud.server_at(uuid_of("requester-1")).record.groups = {"g-1"};
        ServerGroup group{"g-1", "the group", policy, 1, {}};
        group.members = {ServerId{"host1a"}, ServerId{uuid_of("requester-1")}};
        cloud.groups["g-1"] = group;
    }
    std::size_t died_on(const std::string& host) { return 4 - cloud.living(host).size(); }
    Schedule search(const std::string& request) {
        Schedule made;
        made.request = RequestId{request};
        made.server = ServerId{uuid_of("requester-1")};
        made.project = ProjectId{"regular"};
        return made;
    }
};

TEST_F(LandingTest, AntiAffinityFreesRoomOnAnotherHost) {
    group_on_host1("anti-affinity");
    start();
    messages->deliver(body_of(failure()));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_EQ(died_on("host1"), 0U);
    EXPECT_EQ(died_on("host2"), 1U);
    EXPECT_EQ(record("req-1").request.placement.group.name, "the group");
}

TEST_F(LandingTest, AffinityFreesRoomBesideTheGroup) {
    group_on_host1("affinity");
    start();
    messages->deliver(body_of(failure()));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_EQ(died_on("host1"), 1U);
    EXPECT_EQ(died_on("host2"), 0U);
}

TEST_F(LandingTest, RequestsOfOneGroupThatMustBeApartGetAHostEach) {
    full_host("host1");
    full_host("host2");
    for (const char* const name : {"requester-1", "requester-2"}) {
        requester(name);
        cloud.server_at(uuid_of(name)).record.groups = {"g-1"};
    }
    cloud.groups["g-1"] =
        ServerGroup{"g-1",
                    "the group",
                    "anti-affinity",
                    1,
                    {ServerId{uuid_of("requester-1")}, ServerId{uuid_of("requester-2")}}};
    start();
    messages->deliver(body_of(failure()));
    messages->deliver(body_of(another("req-2", "requester-2")));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_EQ(outcome_of("req-2").kind, OutcomeKind::freed);
    EXPECT_EQ(died_on("host1"), 1U);
    EXPECT_EQ(died_on("host2"), 1U);
}

TEST_F(LandingTest, AServerThatJoinedTheGroupMeanwhileCounts) {
    full_host("host1");
    full_host("host2");
    for (const std::string host : {"host1", "host2"})
        cloud.add_server(host + "-mate", host, "regular", Resources{});
    requester();
    cloud.server_at(uuid_of("requester-1")).record.groups = {"g-1"};
    cloud.groups["g-1"] = ServerGroup{"g-1", "the group", "anti-affinity", 1, {}};
    std::string first;
    cloud.on_call = [&](const std::string& call) -> std::optional<Error> {
        if (!call.starts_with("DELETE host") || !first.empty()) return std::nullopt;
        first = call.substr(7, 5);
        cloud.groups["g-1"].members = {ServerId{first + "-mate"}};
        return Error{Errc::server_error, "nova is ill"};
    };
    start();
    messages->deliver(body_of(failure()));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    ASSERT_FALSE(first.empty());
    // Of four and a mate.
    EXPECT_EQ(cloud.living(first).size(), 5U);
    EXPECT_EQ(cloud.living(first == "host1" ? "host2" : "host1").size(), 4U);
}

TEST_F(LandingTest, AMateThatMovedUnheardIsFoundWhereItIs) {
    group_on_host1("affinity");
    with_events = true;
    start();
    run_until([&] { return status.line.find("hosts,") != std::string::npos; });
    FakeServer moved = cloud.server_at("host1a");
    moved.record.server.host = cloud.server_at("host2d").record.server.host;
    moved.provider = cloud.server_at("host2d").provider;
    cloud.remove("host2d");
    cloud.add(std::move(moved));
    messages->deliver(body_of(failure()));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_THAT(cloud.living("host1"), ::testing::SizeIs(3));  // host1a went, no server was deleted
    EXPECT_THAT(cloud.living("host2"), ::testing::SizeIs(3));  // it came, one of four died
}

TEST_F(LandingTest, AGroupThatIsGoneBindsNoServer) {
    group_on_host1("anti-affinity");
    cloud.groups.clear();
    start();
    messages->deliver(body_of(failure()));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_TRUE(record("req-1").request.placement.group.policy.empty());
}

TEST_F(LandingTest, NoServerIsDeletedWhileTheGroupIsNotKnown) {
    group_on_host1("anti-affinity");
    int asked = 0;
    cloud.on_call = [&](const std::string& call) -> std::optional<Error> {
        if (call.starts_with("server group") && ++asked < 4)
            return Error{Errc::server_error, "nova is ill"};
        if (asked < 4 && call.starts_with("DELETE")) ADD_FAILURE() << call;
        return std::nullopt;
    };
    start();
    messages->deliver(body_of(failure()));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_EQ(died_on("host1"), 0U);
    EXPECT_EQ(asked, 4);
}

TEST_F(LandingTest, WhatTheSearchForHostsToldIsObeyed) {
    full_host("host1");
    full_host("host2");
    requester();
    with_events = true;
    start();
    run_until([&] { return status.ready; });
    Schedule told = search("req-1");
    told.placement.only_hosts = {"host2"};
    told.ignored_hosts = {"host3"};
    events->tell(told);
    messages->deliver(body_of(failure()));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_EQ(died_on("host1"), 0U);
    EXPECT_EQ(died_on("host2"), 1U);
    EXPECT_TRUE(record("req-1").request.excluded_hosts.contains("host3"));
}

TEST_F(LandingTest, ASearchOfAnotherServerOrProjectIsNotBelieved) {
    full_host("host1");
    full_host("host2");
    requester();
    requester("requester-2");
    with_events = true;
    start();
    run_until([&] { return status.ready; });
    Schedule forged = search("req-1");
    forged.server = ServerId{uuid_of("no-such")};
    forged.placement.only_hosts = {"host3"};
    events->tell(forged);
    messages->deliver(body_of(failure()));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    forged = search("req-2");
    forged.server = ServerId{uuid_of("requester-2")};
    forged.project = ProjectId{"no-such"};
    forged.placement.only_hosts = {"host3"};
    events->tell(forged);
    messages->deliver(body_of(another("req-2", "requester-2")));
    EXPECT_EQ(outcome_of("req-2").kind, OutcomeKind::freed);
}

TEST_F(LandingTest, ASearchOfAnotherServerDoesNotHideNovasOwn) {
    full_host("host1");
    full_host("host2");
    requester();
    with_events = true;
    start();
    run_until([&] { return status.ready; });
    Schedule told = search("req-1");
    told.placement.only_hosts = {"host2"};
    events->tell(told);
    told.server = ServerId{uuid_of("no-such")};
    told.placement.only_hosts = {"host1"};
    events->tell(told);
    messages->deliver(body_of(failure()));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_EQ(died_on("host1"), 0U);
    EXPECT_EQ(died_on("host2"), 1U);
}

TEST_F(LandingTest, ASearchThatIsStillOnItsWayIsAwaitedForAShortTime) {
    full_host("host1");
    full_host("host2");
    requester();
    with_events = true;
    start();
    run_until([&] { return status.ready; });
    NovaFailure one = failure();
    one.line = "No valid host was found. There are not enough hosts available.";
    messages->deliver(body_of(one));
    const TimePoint delivered = clock.now();
    run_until([&] { return clock.now() >= delivered + Duration{300}; });
    Schedule told = search("req-1");
    told.placement.only_hosts = {"host2"};
    events->tell(told);
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_EQ(died_on("host1"), 0U);
    EXPECT_EQ(died_on("host2"), 1U);
}

TEST_F(LandingTest, ASearchThatNeverComesDelaysNoOtherRequest) {
    full_host("host1");
    requester();
    with_events = true;
    start();
    NovaFailure one = failure();
    one.line = "No valid host was found. There are not enough hosts available.";
    messages->deliver(body_of(one));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
}

TEST_F(LandingTest, NoServerIsDeletedInAZoneThatPlacementDoesNotKnow) {
    cloud.add_host("host1", small * 4, "east");
    cloud.add_host("host2", small * 4, "east");
    for (const char* host : {"host1", "host2"})
        for (const char* n : {"a", "b", "c", "d"})
            cloud.add_server(std::string{host} + n, host, "spot", small);
    cloud.host_aggregates = {{"u", "east", {"host1", "host2"}, {{"availability_zone", "east"}}}};
    cloud.not_mirrored = {"host1"};
    requester();
    start();
    cloud.server_at(uuid_of("requester-1")).record.shown_zone = "east";
    NovaFailure in_the_east = failure();
    in_the_east.availability_zone = "east";
    messages->deliver(body_of(in_the_east));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_EQ(died_on("host1"), 0U);
    EXPECT_EQ(died_on("host2"), 1U);
}

TEST_F(LandingTest, PlacementIsAskedAboutAggregatesOnlyWhereTheyDecide) {
    full_host();
    requester();
    start();
    messages->deliver(body_of(failure()));
    outcome_of("req-1");
    EXPECT_EQ(cloud.count("aggregates of"), 0U);
}

TEST_F(LandingTest, ARequestOutsideEveryShardIsRefused) {
    full_host("host1");
    full_host("host2");
    requester();
    cloud.host_aggregates = {{"u-1", "east", {"host2"}, {}}};
    settings.policy.scheduler.watched_aggregates = {"east | south"};
    start();
    cloud.server_at(uuid_of("requester-1")).record.shown_zone = "az-no-such";
    NovaFailure elsewhere = failure();
    elsewhere.availability_zone = "az-no-such";
    messages->deliver(body_of(elsewhere));
    const Outcome& outcome = outcome_of("req-1");
    EXPECT_EQ(outcome.kind, OutcomeKind::refused);
    EXPECT_THAT(outcome.reason, HasSubstr("outside the watched aggregates (east|south)"));
    run_until([&] { return all_acknowledged(1); });
    EXPECT_EQ(cloud.count("DELETE"), 0U);
}

TEST_F(LandingTest, NoServerIsDeletedOutsideTheWatchedAggregates) {
    full_host("host1");
    full_host("host2");
    requester();
    cloud.host_aggregates = {{"u-1", "east", {"host2"}, {}}};
    settings.policy.scheduler.watched_aggregates = {"u-1"};
    start();
    messages->deliver(body_of(failure()));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_EQ(died_on("host1"), 0U);
    EXPECT_EQ(died_on("host2"), 1U);
}

TEST_F(LandingTest, AnAggregateThatChangedUnheardCounts) {
    full_host("host1");
    full_host("host2");
    requester();
    cloud.host_aggregates = {{"u-1", "east", {"host1"}, {}}};
    settings.policy.scheduler.watched_aggregates = {"east"};
    with_events = true;
    start();
    run_until([&] { return status.ready; });
    run_until([&] { return status.line.find("hosts,") != std::string::npos; });
    cloud.host_aggregates = {{"u-1", "east", {"host2"}, {}}};
    messages->deliver(body_of(failure()));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_EQ(died_on("host1"), 0U);
    EXPECT_EQ(died_on("host2"), 1U);
}

TEST(WatchedAggregates, AnEntryThatNamesNoneIsRefused) {
    config::Policy policy;
    policy.taggers.push_back({"project", {}});
    policy.strategy.name = "strict";
    policy.scheduler.watched_aggregates = {"east", " | "};
    const auto compiled = compile_policy(policy);
    ASSERT_FALSE(compiled);
    EXPECT_THAT(compiled.error().what, HasSubstr("watched_aggregates"));
    policy.scheduler.watched_aggregates = {"east", "a |b", "c"};
    const auto fine = compile_policy(policy);
    ASSERT_TRUE(fine) << fine.error().what;
    const std::vector<std::set<std::string>> shards{{"east"}, {"a", "b"}, {"c"}};
    EXPECT_EQ((*fine)->scheduler.watched, shards);
}

}  // namespace
}  // namespace reaper::test::placement_constraints_test

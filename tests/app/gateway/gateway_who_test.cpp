// The gateway: which request a search belongs to, where several match.
#include <gmock/gmock.h>

#include "app/gateway_house.hpp"
#include "reaper/gateway/requester_resolver.hpp"

namespace reaper::test::gateway_who_test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class GatewayWhoTest : public GatewayHouse {
protected:
    GatewayWhoTest() {
        cloud.add_host("host1", small * 4, "east");
        for (const char* id : {"host1a", "host1b", "host1c", "host1d"})
            cloud.add_server(id, "host1", "spot", small);
        cloud.host_aggregates = {{"u-east", "east", {"host1"}, {{"availability_zone", "east"}}}};
    }
    /// A search that belongs to no request.
    void no_server_is_deleted_for(const std::string& request,
                                  const std::string& target = two_cpus) {
        search_for(request, target);
        EXPECT_EQ(cloud.count("DELETE"), 0U);
        EXPECT_FALSE(journal.records.contains(RequestId{request}));
    }
    const std::string in_the_east = two_cpus + "&member_of=in%3Au-east";
};

TEST_F(GatewayWhoTest, ASearchInAZoneIsNotForWhoAskedForNone) {
    booting("new");
    start();
    no_server_is_deleted_for("req-1", in_the_east);
    cloud.server_at(uuid_of("new")).record.shown_zone = "west";
    no_server_is_deleted_for("req-2", in_the_east);
}

TEST_F(GatewayWhoTest, ItIsForWhoAskedForTheZone) {
    const ServerId server = booting("new");
    booting("other");
    cloud.server_at(server.str()).record.shown_zone = "east";
    start();
    EXPECT_THAT(search_for("req-1", in_the_east), ElementsAre("rp-host1"));
    EXPECT_THAT(record("req-1").request.requesters, ElementsAre(server));
}

TEST_F(GatewayWhoTest, AnAggregateOfItsProjectMayBeInAZone) {
    cloud.host_aggregates.front().metadata["filter_tenant_id"] = "regular";
    booting("new");
    start();
    EXPECT_THAT(search_for("req-1", in_the_east), ElementsAre("rp-host1"));
}

/// One that is not seen would be taken for a boot alike.
TEST_F(GatewayWhoTest, MovesAreSeenHoweverFarTheClocksAreApart) {
    booting("new");
    start();
    search_for("req-1");
    EXPECT_EQ(cloud.listed_since.at("servers in MIGRATING REBUILD RESIZE"), std::nullopt);
    EXPECT_LE(cloud.listed_since.at("servers in SHELVED_OFFLOADED"),
              clock.now() - std::chrono::hours{2});
}

TEST_F(GatewayWhoTest, NovaIsAskedOnceAboutAServerHoweverManySearch) {
    const ServerId spot = booting("n1", "spot");
    const ServerId regular = booting("n2");
    for (const ServerId& server : {spot, regular})
        cloud.slow[server] = std::chrono::milliseconds{300};
    start();
    FakeSearch& first = search("req-1");
    FakeSearch& second = search("req-2");
    EXPECT_THAT(found(first), ElementsAre("rp-host1"));
    EXPECT_THAT(found(second), ElementsAre("rp-host1"));
    EXPECT_THAT(search_for("req-3"), ElementsAre("rp-host1"));
    for (const ServerId& server : {spot, regular})
        EXPECT_EQ(cloud.count("server " + server.str()), 1U);
    EXPECT_EQ(cloud.count("action"), 0U) << "what boots has no action to tell of";
}

TEST_F(GatewayWhoTest, OfTwoAlikeOneIsLeftForTheOtherCall) {
    booting("n1", "spot");
    booting("n2", "spot");
    start();
    no_server_is_deleted_for("req-2");
    // It was for the second, which has its answer.
    cloud.remove(uuid_of("n2"));
    FakeSearch& first = search("req-1");
    booting("later");
    found(first);
    EXPECT_EQ(cloud.count("DELETE"), 0U);
}

/// Which of them asks first is not known: a guess would give one the room of the other.
TEST_F(GatewayWhoTest, OfTwoAlikeEachGetsItsOwnWhicheverAsksFirst) {
    for (const bool swapped : {false, true}) {
        const ServerId first = booting(swapped ? "n3" : "n1");
        const ServerId second = booting(swapped ? "n4" : "n2");
        const ServerId spot = booting("spot", "spot");
        if (!swapped) start();
        cloud.server_at(spot.str()).record.server.task_state = "spawning";
        const RequestId one{swapped ? "req-3" : "req-1"}, two{swapped ? "req-4" : "req-2"};
        EXPECT_THAT(search_for(one.str()), ElementsAre("rp-host1"));
        cloud.server_at(spot.str()).record.server.task_state = "scheduling";
        EXPECT_THAT(search_for(two.str()), ElementsAre("rp-host1")) << "it could be for any";
        EXPECT_EQ(claimed(claim(two.str(), swapped ? first : second, "rp-host1")), 204);
        EXPECT_EQ(claimed(claim(one.str(), swapped ? second : first, "rp-host1")), 204);
        for (const RequestId& each : {one, two})
            EXPECT_EQ(outcome_of(each.str()).kind, OutcomeKind::freed);
        for (const ServerId& each : {first, second, spot})
            cloud.server_at(each.str()).record.server.task_state = "spawning";
    }
    EXPECT_EQ(cloud.count("DELETE"), 4U);
}

TEST_F(GatewayWhoTest, WhereNoHostCanBeOfferedEitherOfTwoAlikeMayClaim) {
    const ServerId first = booting("n1"), second = booting("n2");
    start();
    const std::string granular =
        "/allocation_candidates?resources1=DISK_GB:20,MEMORY_MB:2048,VCPU:2";
    for (const char* request : {"req-1", "req-2"}) {
        EXPECT_THAT(search_for(request, granular), ElementsAre("rp-host1"));
        EXPECT_THAT(record(request).request.requesters, IsEmpty());
    }
    const ServerId spot = booting("spot", "spot");
    EXPECT_EQ(claimed(claim("req-1", spot, "rp-host1")), 409) << "it is not like them";
    EXPECT_EQ(claimed(claim("req-1", second, "rp-host1")), 204);
    EXPECT_EQ(claimed(claim("req-2", first, "rp-host1")), 204);
    EXPECT_EQ(cloud.count("DELETE"), 2U);
}

TEST_F(GatewayWhoTest, ALaterRequestIsNotMistakenForIt) {
    start();
    FakeSearch& made = search("req-1");
    run_until([&] { return cloud.count("servers in BUILD") == 1U; });
    booting("later");
    EXPECT_THAT(found(made), ElementsAre("rp-host1")) << "the claim will tell";
    EXPECT_EQ(cloud.count("DELETE"), 0U);
    EXPECT_TRUE(journal.records.empty());
}

TEST_F(GatewayWhoTest, AnOlderOneThatNovasPagesLeftOutIs) {
    for (const char* project : {"spot", "regular"}) {
        booting(project, project);
        cloud.server_at(uuid_of(project)).record.server.created = clock.now();
    }
    start();
    FakeSearch& made = search("req-1");
    run_until([&] { return cloud.count("servers in BUILD") == 1U; });
    const ServerId server = booting("new");
    cloud.server_at(server.str()).record.server.created = clock.now() - std::chrono::seconds{1};
    for (const char* id : {"spot", "regular"}) cloud.remove(uuid_of(id));
    EXPECT_THAT(found(made), ElementsAre("rp-host1"));
    EXPECT_THAT(record("req-1").request.requesters, ElementsAre(server));
}

// ---- known calls ----

KnownCalls::Servers servers(std::initializer_list<const char*> ids) {
    KnownCalls::Servers made;
    for (const char* id : ids) made.emplace(id);
    return made;
}

const RequestId one{"req-1"}, two{"req-2"};

TEST(KnownCalls, WhatACallIsCertainlyForIsNoOthers) {
    KnownCalls calls;
    calls.known(one, servers({"a", "b"}));
    EXPECT_EQ(calls.of_others(two), servers({"a", "b"}));
    EXPECT_THAT(calls.of_others(one), IsEmpty());
}

TEST(KnownCalls, IsForAServerTogetherWithOthersOfItsRequest) {
    KnownCalls calls;
    calls.known(one, servers({"a", "b"}));
    EXPECT_TRUE(calls.is_for(one, ServerId{"b"}, {ServerId{"a"}, ServerId{"x"}}));
    EXPECT_FALSE(calls.is_for(one, ServerId{"b"}, {ServerId{"x"}}));
    EXPECT_FALSE(calls.is_for(one, ServerId{"x"}, {ServerId{"a"}}));
    EXPECT_FALSE(calls.is_for(two, ServerId{"b"}, {ServerId{"a"}}));
}

TEST(KnownCalls, ThatIsForSeveralRequestsKnowsEach) {
    KnownCalls calls;
    calls.known(one, servers({"a", "b"}));
    calls.known(one, servers({"c"}));
    EXPECT_TRUE(calls.is_for(one, ServerId{"b"}, {ServerId{"a"}}));
    EXPECT_FALSE(calls.is_for(one, ServerId{"c"}, {ServerId{"a"}}));
    EXPECT_EQ(calls.of_others(two), servers({"a", "b", "c"}));
    calls.known(one, servers({"a"}));
    EXPECT_FALSE(calls.is_for(one, ServerId{"b"}, {ServerId{"a"}}));
}

TEST(KnownCalls, IsForgottenWithTheLastServerThatItMayBeFor) {
    KnownCalls calls;
    calls.known(one, servers({"a", "b"}));
    calls.known(two, servers({"c"}));
    calls.forget(calls.all(), servers({"b"}));
    EXPECT_EQ(calls.all(), std::set<RequestId>{one});
    calls.forget({}, {});
    EXPECT_EQ(calls.all(), std::set<RequestId>{one});
    calls.forget(calls.all(), {});
    EXPECT_THAT(calls.all(), IsEmpty());
}

}  // namespace
}  // namespace reaper::test::gateway_who_test

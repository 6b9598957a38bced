// Whose room it is: hosts that are offered, claims that identify the requester, and promised room.
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "app/gateway_house.hpp"

namespace reaper::test::gateway_claims_test {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

class GatewayClaimsTest : public GatewayHouse {
protected:
    /// It boots, and has room on a host that nova-scheduler has not named to Nova yet.
    ServerId placed_on_the_last_place() {
        full_host();
        cloud.remove("host1a");
        const ServerId server = booting("new");
        start();
        EXPECT_THAT(search_for("req-1"), ElementsAre("rp-host1"));
        EXPECT_EQ(claimed(claim("req-1", server, "rp-host1")), 204);
        ServerRecord& shown = cloud.server_at(server.str()).record;
        shown.server.host = {};
        shown.server.task_state = "scheduling";
        return server;
    }
    /// Its own host has room, so hosts are offered before the requester is known.
    /// `recorded_as`: the id of Nova's record. That of the calls is the client's global one.
    void moved(const std::string& action, const std::string& shown, int vcpus,
               const std::string& recorded_as = "req-m") {
        full_host("host1");
        cloud.add_host("host0", small + small + small);
        cloud.flavors = {{"f2", flavor_of(2)}, {"f4", flavor_of(4)}};
        const ServerId server{uuid_of("moved")};
        ServerRecord& now = cloud.add_server(server.str(), "host0", "regular", small).record;
        now.flavor = flavor_of(2);
        now.server.status = shown;
        now.server.task_state = "moving";
        ActionRecord recorded;
        recorded.name = action;
        recorded.request = RequestId{"req-before"};
        cloud.histories[server] = {recorded};  // that one has ended
        recorded.request = RequestId{recorded_as};
        cloud.recorded_actions[recorded_as] = recorded;
        cloud.lists_take = std::chrono::seconds{10};
        start();
        const std::string amounts =
            vcpus == 2 ? "DISK_GB:20,MEMORY_MB:2048,VCPU:2" : "DISK_GB:40,MEMORY_MB:4096,VCPU:4";
        const std::string target = "/allocation_candidates?resources=" + amounts;
        EXPECT_THAT(search_for("req-m", target), UnorderedElementsAre("rp-host0", "rp-host1"));
        EXPECT_EQ(cloud.count("DELETE"), 0U) << "an offer deletes no server";
        search_for("req-other", target);
        EXPECT_EQ(claimed(claim("req-other", server, "rp-host1", vcpus)), 409)
            << "no operation on it has this id, or is under way";
        EXPECT_EQ(cloud.count("DELETE"), 0U);
        auto& history = cloud.histories[server];
        history.insert(history.begin(), recorded);
        EXPECT_EQ(claimed(claim("req-m", server, "rp-host1", vcpus)), 204);
        EXPECT_THAT(record("req-m").request.requesters, ElementsAre(server));
    }
};

TEST_F(GatewayClaimsTest, AClaimIdentifiesTheRequesterAmongSeveral) {
    full_host();
    const ServerId server = booting("new");
    const ServerId other = booting("other", "spot");
    start();
    FakeSearch& first = search("req-1");
    FakeSearch& second = search("req-2");
    EXPECT_THAT(found(first), ElementsAre("rp-host1"));
    EXPECT_THAT(found(second), ElementsAre("rp-host1"));
    EXPECT_TRUE(first.own);
    EXPECT_EQ(cloud.count("DELETE"), 0U) << "an offer deletes no server";
    EXPECT_TRUE(journal.records.empty());
    EXPECT_EQ(claimed(claim("req-1", other, "rp-host1")), 409) << "there is no room";
    EXPECT_EQ(cloud.count("DELETE"), 0U);
    EXPECT_EQ(claimed(claim("req-2", server, "rp-host1")), 204);
    EXPECT_EQ(cloud.count("DELETE"), 1U);
    EXPECT_EQ(outcome_of("req-2").kind, OutcomeKind::freed);
    EXPECT_THAT(record("req-2").request.requesters, ElementsAre(server));
    EXPECT_FALSE(journal.records.contains(RequestId{"req-1"}));
}

TEST_F(GatewayClaimsTest, NovaIsNotAskedAboutAClaimThatTellsThatItIsRevocable) {
    full_host();
    booting("new");
    const ServerId spot = booting("other", "spot");
    start();
    EXPECT_THAT(search_for("req-1"), ElementsAre("rp-host1"));
    const std::size_t before = cloud.count("server " + spot.str());
    EXPECT_EQ(claimed(claim("req-1", spot, "rp-host1")), 409);
    EXPECT_EQ(cloud.count("server " + spot.str()), before);
    EXPECT_EQ(cloud.count("DELETE"), 0U);
}

TEST_F(GatewayClaimsTest, AClaimWhoseTokenPlacementRefusesCausesNoCull) {
    full_host();
    const ServerId server = booting("new");
    booting("other", "spot");
    start();
    EXPECT_THAT(search_for("req-1"), ElementsAre("rp-host1"));
    for (const int refused : {401, 403}) {
        FakeSearch& made = claim("req-1", server, "rp-host1");
        made.status = refused;
        EXPECT_EQ(claimed(made), refused);
        EXPECT_FALSE(made.own);
    }
    EXPECT_EQ(cloud.count("DELETE"), 0U);
    EXPECT_TRUE(journal.records.empty());
    EXPECT_EQ(claimed(claim("req-1", server, "rp-host1")), 204) << "with another one";
}

TEST_F(GatewayClaimsTest, AClaimThatIsOutOfDateCausesNoCull) {
    full_host();
    const ServerId server = booting("new");
    booting("other", "spot");
    start();
    EXPECT_THAT(search_for("req-1"), ElementsAre("rp-host1"));
    FakeSearch& late = claim("req-1", server, "rp-host1");
    late.status = 409;
    late.says = R"({"errors": [{"status": 409, "code": "placement.concurrent_update"}]})";
    EXPECT_EQ(claimed(late), 409);
    EXPECT_FALSE(late.own);
    EXPECT_EQ(cloud.count("DELETE"), 0U);
    EXPECT_EQ(claimed(claim("req-1", server, "rp-host1")), 204) << "it was not refused this host";
}

TEST_F(GatewayClaimsTest, NorDoesOneOfAServerThatHasItsRoom) {
    const ServerId server = placed_on_the_last_place();
    FakeSearch& again = claim("req-1", server, "rp-host1");
    again.status = 409;
    EXPECT_EQ(claimed(again), 409);
    EXPECT_EQ(cloud.count("DELETE"), 0U);
}

TEST_F(GatewayClaimsTest, UntilThatIsTakenBack) {
    const ServerId server = placed_on_the_last_place();
    EXPECT_EQ(claimed(take_back("req-1", server)), 204);
    cloud.server_at(server.str()).resources = {};
    cloud.add_server(uuid_of("faster"), "host1", "regular", small);
    EXPECT_EQ(claimed(claim("req-1", server, "rp-host1")), 204);
    EXPECT_EQ(cloud.count("DELETE"), 1U);
}

TEST_F(GatewayClaimsTest, AServerThatNovaMovesIsKnownByItsClaimWhereItsListTookTooLong) {
    moved("live-migration", "MIGRATING", 2);
    EXPECT_EQ(record("req-m").request.operation, Operation::live_migrate);
    EXPECT_EQ(cloud.count("DELETE"), 1U);
}

TEST_F(GatewayClaimsTest, SoIsOneThatIsResized) {
    moved("resize", "RESIZE", 4);
    EXPECT_EQ(record("req-m").request.operation, Operation::resize);
    EXPECT_EQ(cloud.count("DELETE"), 2U);
}

/// As all that Masakari evacuates from a host, with one id.
TEST_F(GatewayClaimsTest, SoIsOneThatIsMovedWithTheGlobalIdOfItsClient) {
    moved("evacuate", "REBUILD", 2, "req-local");
    EXPECT_EQ(record("req-m").request.operation, Operation::evacuate);
    EXPECT_EQ(cloud.count("DELETE"), 1U);
}

TEST_F(GatewayClaimsTest, NorDoesOneThatIsRefusedForPromisedRoom) {
    full_host();
    booting("first");
    start();
    EXPECT_THAT(search_for("req-1"), ElementsAre("rp-host1"));
    const ServerId server = booting("new");
    booting("other", "spot");
    EXPECT_THAT(search_for("req-2"), ElementsAre("rp-host1"));
    const std::size_t before = cloud.count("DELETE");
    FakeSearch& made = claim("req-2", server, "rp-host1");
    made.status = 401;
    EXPECT_EQ(claimed(made), 401);
    EXPECT_EQ(cloud.count("DELETE"), before);
    EXPECT_EQ(claimed(claim("req-2", server, "rp-host1")), 204);
    EXPECT_EQ(cloud.count("DELETE"), before + 1);
}

TEST_F(GatewayClaimsTest, AnOfferIsForAllServersOfARequest) {
    full_host();
    const ServerId one = booting("n-1", "regular", "r-many");
    const ServerId two = booting("n-2", "regular", "r-many");
    booting("other", "spot");
    start();
    EXPECT_THAT(search_for("req-1"), ElementsAre("rp-host1"));
    EXPECT_EQ(claimed(claim("req-1", two, "rp-host1")), 204);
    EXPECT_EQ(claimed(claim("req-1", one, "rp-host1")), 204);
    EXPECT_EQ(record("req-1").request.slots, 2);
    EXPECT_EQ(cloud.count("DELETE"), 2U);
}

TEST_F(GatewayClaimsTest, OrForNoneWhateverTheirOwnerCallsThem) {
    full_host();
    const ServerId one = booting("a", "regular", "r-many");
    for (const char* id : {"b", "c", "d", "e"}) booting(id, "regular", "r-many");
    booting("alone");
    start();
    EXPECT_THAT(search_for("req-1"), ElementsAre("rp-host1")) << "it may be for one alone";
    EXPECT_EQ(claimed(claim("req-1", one, "rp-host1")), 409);
    EXPECT_EQ(cloud.count("DELETE"), 0U) << "there is room for four";
}

TEST_F(GatewayClaimsTest, RoomIsFreedOnTheHostThatIsClaimed) {
    full_host("host1");
    full_host("host2");
    const ServerId one = booting("n1");
    booting("other", "spot");
    start();
    EXPECT_THAT(search_for("req-1"), UnorderedElementsAre("rp-host1", "rp-host2"));
    EXPECT_EQ(claimed(claim("req-1", one, "rp-host2")), 204);
    EXPECT_EQ(cloud.living("host2").size(), 4U) << "three of them, and the new one";
    EXPECT_EQ(cloud.count("DELETE"), 1U);
    cloud.remove(uuid_of("other"));
    const ServerId two = booting("n2");
    booting("more", "spot");
    search_for("req-2");
    EXPECT_EQ(claimed(claim("req-2", two, "rp-host1")), 204);
    EXPECT_EQ(cloud.living("host1").size(), 4U);
    EXPECT_EQ(cloud.count("DELETE"), 2U);
}

TEST_F(GatewayClaimsTest, WhoseRoomWasFreedIsNotToldOfRoomThatCameFreeElsewhere) {
    full_host("host1");
    cloud.add_host("host2", small * 2);
    cloud.add_server(uuid_of("stays"), "host2", "regular", small * 2);
    booting("new");
    cloud.deletion_takes = std::chrono::seconds{3};
    start();
    FakeSearch& made = search("req-1");
    run_until([&] { return cloud.count("DELETE") == 1U; });
    cloud.remove(uuid_of("stays"));
    EXPECT_THAT(found(made), ElementsAre("rp-host1"));
}

TEST_F(GatewayClaimsTest, WhatWasFreedElsewhereIsClaimedThoughTheHostCameFree) {
    full_host("host1");
    cloud.add_host("host2", small * 2);
    cloud.add_server(uuid_of("stays"), "host2", "regular", small * 2);
    const ServerId server = booting("new");
    booting("other", "spot");
    cloud.deletion_takes = std::chrono::seconds{3};
    start();
    cloud.add_server(uuid_of("spot2"), "host2", "spot", Resources{});
    search_for("req-1");
    FakeSearch& made = claim("req-1", server, "rp-host2");
    run_until([&] { return made.done() || cloud.count("DELETE") == 1U; });
    cloud.remove(uuid_of("stays"));
    EXPECT_EQ(claimed(made), 409);
    EXPECT_EQ(claimed(claim("req-1", server, "rp-host1")), 204);
    EXPECT_EQ(cloud.count("DELETE"), 1U);
}

TEST_F(GatewayClaimsTest, TheNextServerClaimsWhatWasFreedForItThoughAHostCameFree) {
    full_host("host1");
    cloud.add_host("host2", small * 2);
    cloud.add_server(uuid_of("stays"), "host2", "regular", small * 2);
    const ServerId one = booting("n-1", "regular", "r-many");
    const ServerId two = booting("n-2", "regular", "r-many");
    booting("other", "spot");
    start();
    cloud.add_server(uuid_of("spot2"), "host2", "spot", Resources{});
    EXPECT_THAT(search_for("req-1"), ElementsAre("rp-host1"));
    EXPECT_EQ(claimed(claim("req-1", one, "rp-host1")), 204);
    EXPECT_EQ(cloud.count("DELETE"), 2U);
    cloud.remove(uuid_of("stays"));
    FakeSearch& forged = claim("req-1", two, "rp-host2");
    forged.status = 401;
    EXPECT_EQ(claimed(forged), 401) << "it learns nothing";
    EXPECT_EQ(claimed(claim("req-1", two, "rp-host2")), 409) << "its victims were deleted for it";
    EXPECT_EQ(claimed(claim("req-1", two, "rp-host1")), 204);
}

TEST_F(GatewayClaimsTest, WhatIsLeftOfItsRoomGoesWithItsLastClaim) {
    settings.gateway.listen = "127.0.0.1:8780";
    cloud.add_host("host1", small * 4);
    for (const char* n : {"a", "b", "c", "d"}) cloud.add_server(uuid_of(n), "host1", "spot", small);
    const ServerId server = booting("new", "regular", "", 3);
    start();
    EXPECT_THAT(search_for("req-1",
                           "/allocation_candidates?"
                           "resources=DISK_GB:30,MEMORY_MB:3072,VCPU:3"),
                ElementsAre("rp-host1"));
    EXPECT_EQ(cloud.consumers.size(), 2U) << "of two victims";
    EXPECT_EQ(claimed(claim("req-1", server, "rp-host1", 3)), 204);
    EXPECT_EQ(cloud.consumers.size(), 0U) << "a quarter was left";
    EXPECT_EQ(cloud.free_on("host1").get(ResourceClass{"VCPU"}), 1);
}

TEST_F(GatewayClaimsTest, ElsewhereIfThatCantGiveAllOfIt) {
    full_host("host1");
    full_host("host2");
    const ServerId one = booting("n-1", "regular", "r-many");
    std::vector<ServerId> all{one};
    for (const char* id : {"n-2", "n-3", "n-4", "n-5"})
        all.push_back(booting(id, "regular", "r-many"));
    booting("other", "spot");
    start();
    EXPECT_THAT(search_for("req-1"), UnorderedElementsAre("rp-host1", "rp-host2"));
    int served = 0;
    for (const ServerId& server : all)
        for (const char* host : {"rp-host2", "rp-host1"}) {
            if (claimed(claim("req-1", server, host)) != 204) continue;
            ++served;
            break;
        }
    EXPECT_EQ(served, 5);
    EXPECT_EQ(cloud.count("DELETE"), 5U);
}

TEST_F(GatewayClaimsTest, WhereAllWhoMayAskAreRevocableNothingIsOffered) {
    full_host();
    booting("a", "spot");
    booting("b", "spot", "", 2);
    cloud.server_at(uuid_of("b")).record.server.metadata = {{"res-type", "~revocable"}};
    start();
    FakeSearch& made = search("req-1");
    EXPECT_THAT(found(made), IsEmpty());
    EXPECT_FALSE(made.own);
}

TEST_F(GatewayClaimsTest, AClaimThatComesTooLateIsHelped) {
    full_host();
    cloud.remove("host1a");
    const ServerId server = booting("new");
    const ServerId other = booting("other", "spot");
    start();
    EXPECT_THAT(search_for("req-1"), ElementsAre("rp-host1"));
    EXPECT_THAT(search_for("req-2"), ElementsAre("rp-host1"));
    EXPECT_EQ(claimed(claim("req-2", other, "rp-host1")), 204) << "the last place";
    EXPECT_TRUE(journal.records.empty());
    EXPECT_EQ(claimed(claim("req-1", server, "rp-host1")), 204);
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_EQ(cloud.count("DELETE"), 1U);
    const ServerId more = booting("more", "spot");
    EXPECT_EQ(claimed(claim("req-2", more, "rp-host1")), 409) << "a revocable one's is not";
}

TEST_F(GatewayClaimsTest, WhereNovaDoesNotTellInTimeOtherHostsAreOfferedToo) {
    full_host("host1");
    full_host("host2");
    cloud.remove("host1a");
    const ServerId server = booting("new");
    cloud.lists_take = std::chrono::seconds{4};
    start();
    EXPECT_THAT(search_for("req-1"), UnorderedElementsAre("rp-host1", "rp-host2"));
    EXPECT_EQ(cloud.count("DELETE"), 0U);
    cloud.lists_take = {};
    booting("fast", "spot");
    EXPECT_EQ(claimed(claim("req-2", ServerId{uuid_of("fast")}, "rp-host1")), 204);
    // nova-scheduler goes through the hosts that it was given.
    int answered = claimed(claim("req-1", server, "rp-host2"));
    if (answered == 409) answered = claimed(claim("req-1", server, "rp-host1"));
    EXPECT_EQ(answered, 204);
    EXPECT_EQ(cloud.count("DELETE"), 1U);
}

TEST_F(GatewayClaimsTest, AfterASlowListHostsAreOfferedWithoutOne) {
    full_host();
    const ServerId server = booting("new");
    cloud.lists_take = std::chrono::seconds{4};
    start();
    EXPECT_THAT(search_for("req-1"), ElementsAre("rp-host1"));
    pass(std::chrono::seconds{5});
    const std::size_t lists = cloud.count("servers in");
    const auto began = clock.steady();
    EXPECT_THAT(search_for("req-2"), ElementsAre("rp-host1"));
    EXPECT_LT(clock.steady() - began, std::chrono::milliseconds{500});
    EXPECT_EQ(cloud.count("servers in"), lists);
    EXPECT_EQ(claimed(claim("req-2", server, "rp-host1")), 204);
    cloud.lists_take = {};
    pass(std::chrono::seconds{10});
    search_for("req-3");
    EXPECT_GT(cloud.count("servers in"), lists) << "it may be fast again";
}

TEST_F(GatewayClaimsTest, AClientThatHangsUpSaysNothingOfNovasLists) {
    full_host();
    booting("new");
    cloud.lists_take = std::chrono::milliseconds{300};
    start();
    FakeSearch& gone = search("req-1");
    run_until([&] { return cloud.count("servers in") > 0; });
    gone.leave();
    run_until([&] { return gone.done(); });
    const std::size_t lists = cloud.count("servers in");
    search_for("req-2");
    EXPECT_GT(cloud.count("servers in"), lists);
}

TEST_F(GatewayClaimsTest, AClaimWaitsForNovaAsLongAsTheCallLasts) {
    full_host();
    cloud.remove("host1a");
    const ServerId server = booting("new");
    start();
    EXPECT_THAT(search_for("req-1"), ElementsAre("rp-host1"));
    EXPECT_EQ(claimed(claim("req-2", booting("fast", "spot"), "rp-host1")), 204);
    cloud.lists_take = std::chrono::seconds{6};
    EXPECT_EQ(claimed(claim("req-1", server, "rp-host1")), 204);
    EXPECT_EQ(cloud.count("DELETE"), 1U);
}

TEST_F(GatewayClaimsTest, AServerThatNovasListLeavesOutIsKnownByItself) {
    full_host();
    const ServerId server = booting("new-1", "regular", "r-two");
    booting("new-2", "regular", "r-two");
    booting("other", "spot");
    start();
    EXPECT_THAT(search_for("req-1"), ElementsAre("rp-host1"));
    cloud.not_listed = {server};
    EXPECT_EQ(claimed(claim("req-1", server, "rp-host1")), 204);
    EXPECT_EQ(record("req-1").request.slots, 2);
}

TEST_F(GatewayClaimsTest, AClaimOfPromisedRoomIsRefused) {
    full_host();
    const ServerId server = booting("new");
    const ServerId late = booting("late", "spot", "", 4);  // whose search was answered before
    start();
    EXPECT_THAT(search_for("req-1"), ElementsAre("rp-host1"));
    cloud.remove(cloud.living("host1").front());  // there is room for one more
    const ServerId small_one = booting("small", "spot");
    EXPECT_EQ(claimed(claim("req-2", late, "rp-host1", 4)), 409);
    EXPECT_EQ(claimed(claim("req-3", small_one, "rp-host1")), 204);
    EXPECT_EQ(claimed(claim("req-4", booting("more", "spot"), "rp-host1")), 409);
    EXPECT_EQ(claimed(claim("req-1", server, "rp-host1")), 204);
}

/// Nova claims for a server that it evacuates what that holds, and the same on the next host.
TEST_F(GatewayClaimsTest, WhatAServerHoldsOnTheHostThatItLeavesIsNoNewRoom) {
    full_host();
    cloud.remove("host1d");
    const ServerId server{uuid_of("leaves")};
    cloud.add_server(server.str(), "host1", "regular", small);
    booting("new");
    start();
    EXPECT_THAT(search_for("req-1"), ElementsAre("rp-host1"));
    EXPECT_EQ(cloud.free_on("host1"), small) << "which is promised";
    cloud.add_host("host2", small);
    const json amounts = {{"VCPU", 2}, {"MEMORY_MB", 2048}, {"DISK_GB", 20}};
    json both = {{"allocations",
                  {{"rp-host1", {{"resources", amounts}}}, {"rp-host2", {{"resources", amounts}}}}},
                 {"consumer_generation", nullptr}};
    EXPECT_EQ(claimed(of_server("PUT", "req-2", server, both.dump())), 409) << "all of it is new";
    both["consumer_generation"] = 1;
    EXPECT_EQ(claimed(of_server("PUT", "req-2", server, both.dump())), 204);
}

/// Once one of its servers claimed what is promised there, what came after it is another's.
TEST_F(GatewayClaimsTest, TheSecondOfItsServersTakesNothingFromALaterRequest) {
    cloud.add_host("host1", small);
    cloud.add_server("s1", "host1", "spot", small);
    cloud.add_host("host2", small * 2);
    cloud.add_server("s2", "host2", "spot", small);
    cloud.add_server("r", "host2", "regular", small);
    const ServerId one = booting("n-1", "regular", "r-two");
    const ServerId two = booting("n-2", "regular", "r-two");
    start();
    EXPECT_THAT(search_for("req-1"), UnorderedElementsAre("rp-host1", "rp-host2"));
    cloud.remove("r");
    cloud.add_server("s3", "host2", "spot", small);
    const ServerId later = booting("later");
    EXPECT_THAT(search_for("req-2"), ElementsAre("rp-host2"));
    EXPECT_EQ(claimed(claim("req-1", one, "rp-host2")), 204);
    EXPECT_EQ(claimed(claim("req-1", two, "rp-host2")), 409);
    EXPECT_EQ(claimed(claim("req-1", two, "rp-host1")), 204);
    EXPECT_EQ(claimed(claim("req-2", later, "rp-host2")), 204);
}

TEST_F(GatewayClaimsTest, WhatIsKeptForItIsItsOwnThoughOthersLostTheirs) {
    settings.gateway.listen = "127.0.0.1:8780";
    cloud.add_host("host1", small * 2);
    for (const char* n : {"a", "b"}) cloud.add_server(uuid_of(n), "host1", "spot", small);
    const ServerId server = booting("new");
    start();
    EXPECT_THAT(search_for("req-1"), ElementsAre("rp-host1"));
    requester("told");
    messages->deliver(body_of(another("req-2", "told")));  // whose room is not kept
    EXPECT_EQ(outcome_of("req-2").kind, OutcomeKind::freed);
    cloud.add_server(uuid_of("thief"), "host1", "spot", small);
    EXPECT_EQ(claimed(claim("req-1", server, "rp-host1")), 204);
}

TEST_F(GatewayClaimsTest, FreedRoomIsNoCandidateOfAnotherRequest) {
    full_host();
    booting("new");
    start();
    EXPECT_THAT(search_for("req-1"), ElementsAre("rp-host1"));
    booting("spot-1", "spot");
    FakeSearch& other = search("req-2");
    EXPECT_THAT(found(other), IsEmpty());
    EXPECT_TRUE(other.own);
    // Nor of another regular one, who gets room of its own.
    cloud.remove(uuid_of("spot-1"));
    booting("regular-2");
    EXPECT_THAT(search_for("req-3"), ElementsAre("rp-host1"));
    EXPECT_EQ(cloud.living("host1").size(), 2U);
    // Its own it finds again and again.
    EXPECT_THAT(search_for("req-1"), ElementsAre("rp-host1"));
}

TEST_F(GatewayClaimsTest, ASecondTryGetsTheRoomOfTheFirst) {
    full_host();
    booting("requester-1");
    cloud.deletion_takes = std::chrono::seconds{10};
    settings.gateway.deadline = std::chrono::seconds{5};
    start();
    EXPECT_THAT(search_for("req-1"), ElementsAre("rp-host1"));
    requester();  // too late: it is in ERROR
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    booting("again");
    EXPECT_THAT(search_for("req-2"), ElementsAre("rp-host1"));
    EXPECT_EQ(cloud.count("DELETE"), 1U);
    EXPECT_EQ(record("req-1").freed_room->kind, FreedRoomResultKind::handed_over);
}

TEST_F(GatewayClaimsTest, WhatItsServerTookIsPromisedNoMore) {
    full_host();
    booting("new");
    start();
    EXPECT_THAT(search_for("req-1"), ElementsAre("rp-host1"));
    boots(uuid_of("new"), "host1");
    cloud.remove("host1d");
    booting("spot-1", "spot");
    EXPECT_THAT(search_for("req-2"), ElementsAre("rp-host1"));
}

TEST_F(GatewayClaimsTest, WhoClaimedElsewhereNeedsItsRoomNoMore) {
    full_host();
    const ServerId server = booting("new");
    start();
    EXPECT_THAT(search_for("req-1"), ElementsAre("rp-host1"));
    cloud.add_host("host2", small);
    EXPECT_EQ(claimed(claim("req-1", server, "rp-host2")), 204);
    booting("spot-1", "spot");
    EXPECT_THAT(search_for("req-2"), ElementsAre("rp-host1"));
    EXPECT_EQ(claimed(take_back("req-1", server)), 204);
    EXPECT_THAT(search_for("req-2"), IsEmpty());
}

TEST_F(GatewayClaimsTest, NovaMayListTheServersOfARequestOneAfterTheOther) {
    full_host();
    const ServerId one = booting("n-1", "regular", "r-many");
    booting("other", "spot");
    start();
    EXPECT_THAT(search_for("req-other"), ElementsAre("rp-host1"));
    const ServerId two = booting("n-2", "regular", "r-many");
    EXPECT_THAT(search_for("req-1"), ElementsAre("rp-host1"));
    EXPECT_EQ(claimed(claim("req-1", one, "rp-host1")), 204);
    EXPECT_EQ(claimed(claim("req-1", two, "rp-host1")), 204);
    EXPECT_EQ(record("req-1").request.slots, 2);
}

TEST_F(GatewayClaimsTest, RoomThatItsServerClaimedGoesToNoLikeRequest) {
    full_host();
    const ServerId first = booting("new");
    start();
    EXPECT_THAT(search_for("req-1"), ElementsAre("rp-host1"));
    EXPECT_EQ(claimed(claim("req-1", first, "rp-host1")), 204);  // it is in BUILD yet
    const ServerId second = booting("second");
    EXPECT_THAT(search_for("req-2"), ElementsAre("rp-host1"));
    EXPECT_EQ(outcome_of("req-2").kind, OutcomeKind::freed);
    EXPECT_EQ(claimed(claim("req-2", second, "rp-host1")), 204);
    EXPECT_EQ(cloud.count("DELETE"), 2U);
}

TEST_F(GatewayClaimsTest, TwoClaimsAtOnceTakeNoPromisedRoomTogether) {
    full_host();
    booting("new");
    start();
    EXPECT_THAT(search_for("req-1"), ElementsAre("rp-host1"));
    cloud.remove(cloud.living("host1").front());  // there is room for one more
    FakeSearch& one = claim("req-2", booting("spot-1", "spot"), "rp-host1");
    FakeSearch& two = claim("req-3", booting("spot-2", "spot"), "rp-host1");
    EXPECT_EQ(claimed(one) + claimed(two), 204 + 409);
}

}  // namespace
}  // namespace reaper::test::gateway_claims_test

// The gateway: places that Placement offers, and that nova-scheduler's filters refuse.
#include <gmock/gmock.h>

#include "app/gateway_house.hpp"

namespace reaper::test::gateway_places_test {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Not;
using ::testing::SizeIs;

class GatewayPlacesTest : public GatewayHouse {
protected:
    /// A host with so many places, and one server of the project regular.
    void roomy_host(const std::string& name, int places, const std::string& server) {
        cloud.add_host(name, small * (places + 1));
        cloud.add_server(uuid_of(server), name, "regular", small);
    }
    /// The booting server is in a group with these.
    void in_group(const ServerId& booting, const std::string& policy, std::set<ServerId> members) {
        members.insert(booting);
        cloud.groups["g-1"] = ServerGroup{"g-1", "g", policy, 1, std::move(members)};
        cloud.server_at(booting.str()).record.groups = {"g-1"};
    }
    void no_server_is_deleted_for_a_search() {
        EXPECT_THAT(search_for("req-1"), Contains("rp-host2"));
        EXPECT_EQ(cloud.count("DELETE"), 0U);
    }
};

TEST_F(GatewayPlacesTest, ThoseOfAHostThatItsGroupForbidsAreNone) {
    full_host("host1");
    roomy_host("host2", 20, "mate");
    in_group(booting("new"), "anti-affinity", {ServerId{uuid_of("mate")}});
    start();
    EXPECT_THAT(search_for("req-1"), Contains("rp-host1"));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_EQ(cloud.living("host1").size(), 3U);
}

TEST_F(GatewayPlacesTest, NorThoseWhereItsHintsKeepItOff) {
    full_host("host1");
    roomy_host("host2", 20, "rival");
    const ServerId server = booting("new");
    cloud.server_at(server.str()).record.different_host = {ServerId{uuid_of("rival")}};
    start();
    EXPECT_THAT(search_for("req-1"), Contains("rp-host1"));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
}

TEST_F(GatewayPlacesTest, AGroupWithManyPlacesLeftNeedsNoCullAndNoRequest) {
    full_host("host1");
    roomy_host("host2", 20, "mate");
    in_group(booting("new"), "affinity", {ServerId{uuid_of("mate")}});
    start();
    no_server_is_deleted_for_a_search();
    EXPECT_TRUE(journal.records.empty());
}

TEST_F(GatewayPlacesTest, AServerInNoGroupIsAskedForOnce) {
    roomy_host("host2", 20, "tenant");
    const ServerId server = booting("new");
    start();
    no_server_is_deleted_for_a_search();
    no_server_is_deleted_for_a_search();
    EXPECT_EQ(cloud.count("server " + server.str()), 1U);
}

TEST_F(GatewayPlacesTest, AServerThatIsTooLargeForTheSearchIsNotAskedFor) {
    roomy_host("host2", 20, "tenant");
    const ServerId server = booting("new", "regular", "", 4);
    start();
    no_server_is_deleted_for_a_search();
    EXPECT_EQ(cloud.count("server " + server.str()), 0U);
}

TEST_F(GatewayPlacesTest, OneOnEachHostIsNoPlaceForTwoThatStayTogether) {
    full_host("host1");
    for (int i = 0; i < 20; ++i) {
        const std::string number = std::to_string(100 + i);
        roomy_host("small" + number, 1, "s" + number);
    }
    const ServerId one = booting("n1", "regular", "r-two");
    const ServerId two = booting("n2", "regular", "r-two");
    in_group(one, "affinity", {two});
    cloud.server_at(two.str()).record.groups = {"g-1"};
    start();
    EXPECT_THAT(search_for("req-1"), Contains("rp-host1"));
    EXPECT_EQ(record("req-1").request.slots, 2);
    EXPECT_EQ(cloud.living("host1").size(), 2U);
}

TEST_F(GatewayPlacesTest, PromisedRoomFarBehindInALongAnswerIsWithheld) {
    full_host("z-last");
    settings.gateway.escrow = false;
    booting("new");
    start();
    EXPECT_THAT(search_for("req-1"), ElementsAre("rp-z-last"));
    for (int i = 0; i < 150; ++i) cloud.add_host("h" + std::to_string(i), small);
    booting("spot-1", "spot");
    FakeSearch& other = search("req-2");
    EXPECT_THAT(found(other), AllOf(SizeIs(150), Not(Contains("rp-z-last"))));
    EXPECT_TRUE(other.own);
    FakeSearch& its = search("req-1");
    EXPECT_THAT(found(its), Contains("rp-z-last"));
    EXPECT_FALSE(its.own);
}

TEST_F(GatewayPlacesTest, ThoseInAnAggregateOfOtherProjectsAreNone) {
    full_host("host1");
    roomy_host("host2", 3, "theirs");
    cloud.host_aggregates = {{"u-1", "theirs", {"host2"}, {{"filter_tenant_id", "others"}}}};
    settings.policy.scheduler.tenant_filter = true;
    booting("new");
    start();
    EXPECT_THAT(search_for("req-1"), Contains("rp-host1"));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_EQ(cloud.living("host1").size(), 3U);
}

TEST_F(GatewayPlacesTest, ThoseOnHostsWithoutVictimsAre) {
    full_host("host1");
    roomy_host("host2", 3, "theirs");
    cloud.host_aggregates = {{"u-1", "east", {"host1"}, {}}};
    settings.policy.scheduler.watched_aggregates = {"east"};
    booting("new");
    start();
    no_server_is_deleted_for_a_search();
    EXPECT_TRUE(journal.records.empty());
}

}  // namespace
}  // namespace reaper::test::gateway_places_test

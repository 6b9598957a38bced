// Dedicated CPUs: Nova searches for them as PCPU, then for the same as VCPU, and takes either.
// There is one cull for the two.
#include <gmock/gmock.h>

#include "app/gateway_house.hpp"

namespace reaper::test::gateway_pairs_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const std::string as_pcpu =
    "/placement/allocation_candidates?limit=1000&"
    "resources=DISK_GB%3A20%2CMEMORY_MB%3A2048%2CPCPU%3A2&"
    "root_required=%21COMPUTE_STATUS_DISABLED";
const std::string& as_vcpu = two_cpus;

const Resources pinned{{"PCPU", 2}, {"MEMORY_MB", 2048}, {"DISK_GB", 20}};

class GatewayPairsTest : public GatewayHouse {
protected:
    GatewayPairsTest() {
        cloud.classes.insert("PCPU");
        settings.policy.scheduler.pcpu_fallback = true;
    }
    ServerId pinned_server(const std::string& id, const std::string& reservation = "") {
        const ServerId server = booting(id, "regular", reservation);
        cloud.server_at(uuid_of(id)).record.flavor.extra_specs["hw:cpu_policy"] = "dedicated";
        return server;
    }
    /// Full of revocable servers with dedicated CPUs.
    void full_of_pinned(const std::string& name) {
        cloud.add_host(name, pinned * 2);
        for (const char* n : {"a", "b"}) cloud.add_server(name + n, name, "spot", pinned);
    }
};

TEST_F(GatewayPairsTest, WhereTheFirstFindsHostsNoServerIsDeletedForTheSecond) {
    cloud.add_host("dedicated", pinned);
    full_host("shared");
    pinned_server("new");
    start();
    EXPECT_THAT(search_for("req-1", as_pcpu), ElementsAre("rp-dedicated"));
    EXPECT_THAT(search_for("req-1", as_vcpu), IsEmpty());
    EXPECT_EQ(cloud.count("DELETE"), 0U);
    EXPECT_TRUE(journal.records.empty());
}

TEST_F(GatewayPairsTest, WhereTheSecondWillFindHostsNoServerIsDeletedForTheFirst) {
    full_of_pinned("dedicated");
    cloud.add_host("shared", small);
    pinned_server("new");
    start();
    EXPECT_THAT(search_for("req-1", as_pcpu), IsEmpty());
    EXPECT_THAT(search_for("req-1", as_vcpu), ElementsAre("rp-shared"));
    EXPECT_EQ(cloud.count("DELETE"), 0U);
}

TEST_F(GatewayPairsTest, AlsoIfAnotherRequestOfItsIdWasServed) {
    cloud.add_host("dedicated", pinned);
    full_host("shared");
    const ServerId before = booting("before");
    start();
    EXPECT_THAT(search_for("req-1", as_vcpu), ElementsAre("rp-shared"));
    EXPECT_EQ(claimed(claim("req-1", before, "rp-shared")), 204);
    pinned_server("new");
    EXPECT_THAT(search_for("req-1", as_pcpu), ElementsAre("rp-dedicated"));
    EXPECT_THAT(search_for("req-1", as_vcpu), IsEmpty());
    EXPECT_EQ(cloud.count("DELETE"), 1U) << "for the one before";
}

TEST_F(GatewayPairsTest, ASearchForAnotherServerOfItsIdIsNoSecond) {
    cloud.add_host("dedicated", pinned);
    full_host("shared");
    pinned_server("new");
    start();
    EXPECT_THAT(search_for("req-1", as_pcpu), ElementsAre("rp-dedicated"));
    cloud.server_at(uuid_of("new")).record.server.task_state = "spawning";
    booting("larger", "regular", "", 4);
    EXPECT_THAT(
        search_for("req-1", "/allocation_candidates?resources=DISK_GB:40,MEMORY_MB:4096,VCPU:4"),
        ElementsAre("rp-shared"));
    EXPECT_EQ(cloud.count("DELETE"), 2U);
}

TEST_F(GatewayPairsTest, ThePlacesOfBothCount) {
    cloud.add_host("dedicated", pinned);
    cloud.add_host("shared", small);
    pinned_server("n1", "r-two");
    pinned_server("n2", "r-two");
    start();
    EXPECT_THAT(search_for("req-1", as_pcpu), ElementsAre("rp-dedicated"));
    EXPECT_THAT(search_for("req-1", as_vcpu), ElementsAre("rp-shared"));
    EXPECT_EQ(cloud.count("DELETE"), 0U);
}

TEST_F(GatewayPairsTest, RoomThatWasFreedForTheFirstIsLeftAloneByTheSecond) {
    full_of_pinned("dedicated");
    full_host("shared");
    const ServerId server = pinned_server("new");
    start();
    EXPECT_THAT(search_for("req-1", as_pcpu), ElementsAre("rp-dedicated"));
    EXPECT_THAT(search_for("req-1", as_vcpu), IsEmpty());
    EXPECT_EQ(cloud.count("DELETE"), 1U);
    const nlohmann::json amounts = {{"PCPU", 2}, {"MEMORY_MB", 2048}, {"DISK_GB", 20}};
    const nlohmann::json body = {{"allocations", {{"rp-dedicated", {{"resources", amounts}}}}}};
    FakeSearch claimed_there{cloud};
    claimed_there.begin(io(), service().gateway(),
                        HttpRequest{"PUT",
                                    "/allocations/" + server.str(),
                                    {{"X-Openstack-Request-Id", "req-1"}},
                                    body.dump()});
    EXPECT_EQ(claimed(claimed_there), 204);
}

TEST_F(GatewayPairsTest, RoomThatIsFreedAsVcpuIsInTheSecondAnswer) {
    full_host("shared");
    const ServerId server = pinned_server("new");
    start();
    const TimePoint began = clock.now();
    EXPECT_THAT(search_for("req-1", as_pcpu), IsEmpty());
    EXPECT_EQ(cloud.count("DELETE"), 1U);
    EXPECT_LT(clock.now() - began, std::chrono::seconds{4})
        << "no time is lost on a hopeless search";
    EXPECT_THAT(search_for("req-1", as_vcpu), ElementsAre("rp-shared"));
    EXPECT_EQ(cloud.count("DELETE"), 1U);
    EXPECT_EQ(claimed(claim("req-1", server, "rp-shared")), 204);
}

/// Nova's NUMATopologyFilter would refuse them, and no claim would tell.
TEST_F(GatewayPairsTest, FullHostsAreNotOffered) {
    full_of_pinned("dedicated");
    full_host("shared");
    pinned_server("new");
    pinned_server("other");
    cloud.server_at(uuid_of("other")).record.server.project = ProjectId{"spot"};
    start();
    EXPECT_THAT(search_for("req-1", as_pcpu), IsEmpty());
    EXPECT_THAT(search_for("req-1", as_vcpu), IsEmpty());
    EXPECT_EQ(cloud.count("DELETE"), 0U);
}

TEST_F(GatewayPairsTest, SoOneOfSeveralAlikeIsServedByItsSearch) {
    full_of_pinned("dedicated");
    pinned_server("one");
    pinned_server("two");
    start();
    EXPECT_THAT(search_for("req-1", as_pcpu), ElementsAre("rp-dedicated"));
    EXPECT_EQ(cloud.count("DELETE"), 1U);
}

TEST_F(GatewayPairsTest, ASecondWhoseFirstIsNotKnownPasses) {
    full_host("shared");
    pinned_server("new");
    start();
    EXPECT_THAT(search_for("req-1", as_vcpu), IsEmpty());
    EXPECT_EQ(cloud.count("DELETE"), 0U);
}

}  // namespace
}  // namespace reaper::test::gateway_pairs_test

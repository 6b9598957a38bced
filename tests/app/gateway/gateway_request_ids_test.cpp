// Requests are those of their servers: what an id alone does not tell.
#include <gmock/gmock.h>

#include "app/gateway_house.hpp"
#include "reaper/gateway/call_words.hpp"

namespace reaper::test::gateway_request_ids_test {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;

class GatewayRequestIdsTest : public GatewayHouse {};

TEST_F(GatewayRequestIdsTest, SeveralBootsOfOneIdAreSeveralRequests) {
    full_host();
    const ServerId one = booting("one");
    start();
    EXPECT_THAT(search_for("req-1"), ElementsAre("rp-host1"));
    EXPECT_EQ(claimed(claim("req-1", one, "rp-host1")), 204);
    cloud.server_at(uuid_of("one")).record.server.task_state = "spawning";
    const ServerId two = booting("two");
    EXPECT_THAT(search_for("req-1"), ElementsAre("rp-host1"));
    EXPECT_EQ(claimed(claim("req-1", two, "rp-host1")), 204);
    EXPECT_EQ(cloud.count("DELETE"), 2U);
    EXPECT_THAT(record("req-1").request.requesters, ElementsAre(one));
    EXPECT_THAT(record("req-1~2").request.requesters, ElementsAre(two));
}

TEST_F(GatewayRequestIdsTest, AlsoIfBothSearchAtOnce) {
    full_host();
    const ServerId one = booting("one"), two = booting("two");
    start();
    for (int searches = 0; searches < 2; ++searches)
        EXPECT_THAT(search_for("req-1"), ElementsAre("rp-host1"));
    EXPECT_EQ(claimed(claim("req-1", two, "rp-host1")), 204);
    EXPECT_EQ(claimed(claim("req-1", one, "rp-host1")), 204);
    EXPECT_THAT(record("req-1").request.requesters, ElementsAre(two));
    EXPECT_THAT(record("req-1~2").request.requesters, ElementsAre(one));
    EXPECT_EQ(cloud.count("DELETE"), 2U);
}

TEST_F(GatewayRequestIdsTest, ABootWithTheIdOfAnotherGetsNoneOfItsRoom) {
    full_host();
    const ServerId server = booting("new");
    start();
    EXPECT_THAT(search_for("req-1"), ElementsAre("rp-host1"));
    const ServerId thief = booting("thief", "spot");
    search_for("req-1");
    EXPECT_EQ(claimed(claim("req-1", thief, "rp-host1")), 409);
    EXPECT_EQ(claimed(claim("req-1", server, "rp-host1")), 204);
    EXPECT_EQ(cloud.count("DELETE"), 1U);
}

TEST_F(GatewayRequestIdsTest, NorDoesOneThatSearchesWhenTheOtherHasFailed) {
    full_host();
    const ServerId server = booting("new", "regular", "", 4);
    start();
    EXPECT_THAT(
        search_for("req-1", "/allocation_candidates?resources=DISK_GB:40,MEMORY_MB:4096,VCPU:4"),
        ElementsAre("rp-host1"));
    ServerRecord& failed = cloud.server_at(server.str()).record;
    failed.server.status = "ERROR";
    failed.server.task_state = "";
    const ServerId thief = booting("thief", "spot");
    EXPECT_THAT(search_for("req-1"), ElementsAre("rp-host1")) << "whose search is not known yet";
    EXPECT_EQ(claimed(claim("req-1", thief, "rp-host1")), 409);
}

TEST_F(GatewayRequestIdsTest, NorDoesOneOfTheSameProject) {
    settings.gateway.listen = "127.0.0.1:8780";
    full_host();
    const ServerId server = booting("new");
    start();
    EXPECT_THAT(search_for("req-1"), ElementsAre("rp-host1"));
    const ServerId thief = booting("thief");
    EXPECT_EQ(claimed(claim("req-1", thief, "rp-host1")), 409);
    EXPECT_EQ(claimed(claim("req-1", server, "rp-host1")), 204);
}

TEST(RequestIds, TheFirstRequestOfAnIdHasIt) {
    RequestIds ids;
    const RequestId call{"req-1"};
    EXPECT_EQ(ids.of(call, {ServerId{"a"}}, seconds{0}).str(), "req-1");
    EXPECT_EQ(ids.of(call, {ServerId{"b"}, ServerId{"c"}}, seconds{1}).str(), "req-1~2");
    EXPECT_EQ(ids.of(call, {ServerId{"c"}, ServerId{"d"}}, seconds{2}).str(), "req-1~2");
    EXPECT_EQ(ids.of_server(call, ServerId{"d"}).str(), "req-1~2");
    EXPECT_EQ(ids.of_server(call, ServerId{"e"}).str(), "req-1");
    EXPECT_EQ(ids.of_server(RequestId{"req-2"}, ServerId{"d"}).str(), "req-2");
}

TEST(RequestIds, AreForgottenInTime) {
    RequestIds ids;
    ids.of(RequestId{"req-1"}, {ServerId{"a"}}, seconds{0});
    ids.of(RequestId{"req-2"}, {ServerId{"z"}}, RequestIds::remembered_for + seconds{1});
    EXPECT_EQ(ids.of(RequestId{"req-1"}, {ServerId{"b"}}, RequestIds::remembered_for).str(),
              "req-1");
}

}  // namespace
}  // namespace reaper::test::gateway_request_ids_test

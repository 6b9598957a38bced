// Moves that are no resize, and where the scheduler lets a server go: live migration, evacuation,
// shelving; server groups, hints, isolated aggregates.
#include <gtest/gtest.h>

#include "tests/cloudsim/tests/box.hpp"

namespace reaper::cloudsim::test::moves_test {
namespace {

const std::string servers = "/compute/v2.1/servers";

class MovesTest : public ::testing::Test {
protected:
    std::string host_of(const std::string& id) {
        const Json host = box.server(id)["OS-EXT-SRV-ATTR:host"];
        return host.is_null() ? "" : host.get<std::string>();
    }
    std::string status_of(const std::string& id) { return box.server(id)["status"]; }
    int act(const std::string& id, const Json& what) {
        const int status = box.call("POST", servers + "/" + id + "/action", what).status();
        box.settle();
        return status;
    }
    void fill(const std::string& host) { box.boot("large", "spot", host); }
    std::string group(const std::string& policy, const Json& rules = Json::object()) {
        const Json body{{"server_group", {{"name", "g"}, {"policy", policy}, {"rules", rules}}}};
        return box.call("POST", "/compute/v2.1/os-server-groups", body).body["server_group"]["id"];
    }
    std::string ask(const std::string& flavor, const Json& hints) {
        const Json server{{"name", flavor},
                          {"flavorRef", box.flavor(flavor)},
                          {"imageRef", box.image()},
                          {"networks", "none"}};
        const Json document{{"server", server}, {"os:scheduler_hints", hints}};
        const auto asked = box.call("POST", servers, document, "admin", "regular");
        box.settle();
        return asked.body["server"]["id"];
    }

    Box box;
};

TEST_F(MovesTest, ALiveMigrationLeavesItsHost) {
    const std::string id = box.boot("small", "regular", "host-1");
    fill("host-2");
    EXPECT_EQ(act(id, {{"os-migrateLive", {{"host", nullptr}}}}), 202);
    EXPECT_EQ(host_of(id), "host-3");
    EXPECT_EQ(status_of(id), "ACTIVE");
    const Json held = box.get("/placement/allocations/" + id).body["allocations"];
    EXPECT_EQ(held.size(), 1U);
    EXPECT_TRUE(held.contains(box.provider("host-3")));
}

TEST_F(MovesTest, ALiveMigrationThatFindsNoHostTellsTheServerAlone) {
    const std::string id = box.boot("small", "regular", "host-1");
    fill("host-2");
    fill("host-3");
    act(id, {{"os-migrateLive", {{"host", nullptr}}}});
    EXPECT_EQ(host_of(id), "host-1");
    EXPECT_EQ(status_of(id), "ACTIVE");
    const auto told = box.told("compute_task.migrate_server.error");
    ASSERT_EQ(told.size(), 1U);
    const Json spec = told[0]["payload"]["nova_object.data"]["request_spec"]["nova_object.data"];
    EXPECT_EQ(spec["instance_uuid"], id);
    EXPECT_TRUE(spec["flavor"].is_null());
    EXPECT_TRUE(box.get("/placement/allocations/" + id)
                    .body["allocations"]
                    .contains(box.provider("host-1")));
}

/// Nova keeps what was asked for at the boot.
TEST_F(MovesTest, HintsOfTheBootCountWhenTheServerMoves) {
    const std::string other = box.boot("small", "regular", "host-2");
    const std::string id = ask("small", {{"different_host", Json::array({other})}});
    const std::string from = host_of(id);
    fill(from == "host-1" ? "host-3" : "host-1");
    act(id, {{"os-migrateLive", {{"host", nullptr}}}});
    EXPECT_EQ(host_of(id), from);
    EXPECT_EQ(box.told("compute_task.migrate_server.error").size(), 1U);
}

TEST_F(MovesTest, OnlyAHostThatIsDownIsEvacuated) {
    const std::string id = box.boot("small", "regular", "host-1");
    EXPECT_EQ(act(id, {{"evacuate", Json::object()}}), 400);
    box.world().nova.find_host("host-1")->forced_down = true;
    EXPECT_EQ(act(id, {{"evacuate", Json::object()}}), 202);
    EXPECT_NE(host_of(id), "host-1");
    EXPECT_EQ(status_of(id), "ACTIVE");
}

TEST_F(MovesTest, AnEvacuationThatFindsNoHostIsAnError) {
    const std::string id = box.boot("small", "regular", "host-1");
    fill("host-2");
    fill("host-3");
    box.world().nova.find_host("host-1")->forced_down = true;
    act(id, {{"evacuate", Json::object()}});
    EXPECT_EQ(status_of(id), "ERROR");
    EXPECT_EQ(host_of(id), "host-1");
    EXPECT_EQ(box.told("compute_task.rebuild_server.error").size(), 1U);
}

TEST_F(MovesTest, AnUnshelvingThatFindsNoHostIsInTheRecordOfActionsAlone) {
    const std::string id = box.boot("small", "regular", "host-1");
    act(id, {{"shelve", nullptr}});
    EXPECT_EQ(status_of(id), "SHELVED_OFFLOADED");
    EXPECT_EQ(host_of(id), "");
    EXPECT_TRUE(box.get("/placement/allocations/" + id).body["allocations"].empty());
    for (const char* host : {"host-1", "host-2", "host-3"}) fill(host);
    act(id, {{"unshelve", nullptr}});
    EXPECT_EQ(status_of(id), "SHELVED_OFFLOADED");
    const Json last =
        box.get(servers + "/" + id + "/os-instance-actions").body["instanceActions"][0];
    EXPECT_EQ(last["action"], "unshelve");
    EXPECT_EQ(last["message"], "Error");
    EXPECT_TRUE(box.told("compute_task.build_instances.error").empty());
}

TEST_F(MovesTest, AShelvedServerComesBack) {
    const std::string id = box.boot("small", "regular", "host-1");
    act(id, {{"shelve", nullptr}});
    fill("host-1");
    act(id, {{"unshelve", nullptr}});
    EXPECT_EQ(status_of(id), "ACTIVE");
    EXPECT_NE(host_of(id), "host-1");
}

TEST_F(MovesTest, AGroupAllowsSoManyOnAHost) {
    const std::string two = group("anti-affinity", {{"max_server_per_host", 2}});
    for (const char* host : {"host-2", "host-3"}) fill(host);
    std::vector<std::string> ids;
    for (int i = 0; i < 3; ++i) {
        ids.push_back(ask("small", {{"group", two}}));
        box.settle();
    }
    EXPECT_EQ(host_of(ids[0]), "host-1");
    EXPECT_EQ(host_of(ids[1]), "host-1");
    EXPECT_EQ(status_of(ids[2]), "ERROR");
}

TEST_F(MovesTest, TheOnlyOneOfAGroupWithAffinityStays) {
    const std::string id = ask("small", {{"group", group("affinity")}});
    box.settle();
    const std::string host = host_of(id);
    act(id, {{"os-migrateLive", {{"host", nullptr}}}});
    EXPECT_EQ(host_of(id), host);
    EXPECT_EQ(box.told("compute_task.migrate_server.error").size(), 1U);
}

TEST_F(MovesTest, HintsAboutOtherServersAreObeyedAndMissingAfterAFailure) {
    const std::string there = box.boot("small", "regular", "host-2");
    const std::string with = ask("small", {{"same_host", {there}}});
    const std::string apart = ask("small", {{"different_host", {there}}});
    box.settle();
    EXPECT_EQ(host_of(with), "host-2");
    EXPECT_NE(host_of(apart), "host-2");
    ask("large", {{"same_host", {there}}});
    box.settle();
    const auto data = [](const Json& message) { return message["payload"]["nova_object.data"]; };
    EXPECT_EQ(data(box.told("scheduler.select_destinations.start").back())["scheduler_hints"],
              (Json{{"same_host", {there}}}));
    const Json failed = data(box.told("compute_task.build_instances.error").back());
    EXPECT_TRUE(failed["request_spec"]["nova_object.data"]["scheduler_hints"].empty());
}

}  // namespace
}  // namespace reaper::cloudsim::test::moves_test

// What happens to servers: who finds a host, how they go, what they hold meanwhile.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>

#include "tests/cloudsim/tests/box.hpp"

namespace reaper::cloudsim::test::servers_test {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

const std::string servers = "/compute/v2.1/servers";

class ServersTest : public ::testing::Test {
protected:
    std::string host_of(const std::string& id) {
        const Json host = box.server(id)["OS-EXT-SRV-ATTR:host"];
        return host.is_null() ? "" : host.get<std::string>();
    }
    bool holds_room(const std::string& id) {
        return !box.get("/placement/allocations/" + id).body["allocations"].empty();
    }
    std::vector<Json> of_reservation(const Answer& asked) {
        const std::string id = asked.body["reservation_id"];
        return box.get(servers + "/detail?all_tenants=1&reservation_id=" + id).body["servers"];
    }
    Answer ask_many(const std::string& flavor, int count, Json more = Json::object()) {
        more.update({{"min_count", count}, {"max_count", count}, {"return_reservation_id", true}});
        const Answer asked = box.ask(flavor, "regular", more);
        box.settle();
        return asked;
    }
    Answer remove(const std::string& id) { return box.call("DELETE", servers + "/" + id); }
    Answer act(const std::string& id, const Json& what, const std::string& user = "reaper",
               const std::string& project = "service") {
        return box.call("POST", servers + "/" + id + "/action", what, user, project);
    }

    Box box;
};

TEST_F(ServersTest, AreBuiltStepByStep) {
    const Answer asked = box.ask("small");
    ASSERT_EQ(asked.status(), 202);
    const std::string id = asked.body["server"]["id"];
    EXPECT_EQ(box.server(id)["status"], "BUILD");
    EXPECT_EQ(box.server(id)["OS-EXT-STS:task_state"], "scheduling");
    EXPECT_EQ(host_of(id), "");
    box.pass(100ms);
    EXPECT_EQ(box.server(id)["OS-EXT-STS:task_state"], "spawning");
    EXPECT_TRUE(holds_room(id));
    box.settle();
    EXPECT_EQ(box.server(id)["status"], "ACTIVE");
}

TEST_F(ServersTest, SpreadOverTheHostsWithMostFreeMemory) {
    std::multiset<std::string> hosts;
    for (int count = 0; count < 6; ++count) {
        const Answer asked = box.ask("small");
        box.settle();
        hosts.insert(host_of(asked.body["server"]["id"]));
    }
    for (const char* host : {"host-1", "host-2", "host-3"}) EXPECT_EQ(hosts.count(host), 2U);
}

TEST_F(ServersTest, OfOneRequestFindHostsAllOrNone) {
    box.boot("large", "spot", "host-1");
    for (const Json& each : of_reservation(ask_many("large", 3))) {
        EXPECT_EQ(each["status"], "ERROR");
        EXPECT_FALSE(holds_room(each["id"]));
    }
    const auto placed = of_reservation(ask_many("large", 2));
    ASSERT_EQ(placed.size(), 2U);
    for (const Json& each : placed) EXPECT_EQ(each["status"], "ACTIVE");
    EXPECT_NE(placed[0]["name"], placed[1]["name"]);
}

TEST_F(ServersTest, ThatFindNoHostStayInErrorWithoutOne) {
    for (const char* host : {"host-1", "host-2", "host-3"}) box.boot("large", "spot", host);
    const Answer asked = box.ask("small");
    box.settle();
    const Json server = box.server(asked.body["server"]["id"]);
    EXPECT_EQ(server["status"], "ERROR");
    EXPECT_TRUE(server["OS-EXT-SRV-ATTR:host"].is_null());
    EXPECT_THAT(server["fault"]["message"].get<std::string>(), HasSubstr("No valid host"));
    EXPECT_EQ(remove(server["id"]).status(), 204);
    EXPECT_EQ(remove(server["id"]).status(), 404) << "it goes at once, as it is on no host";
}

TEST_F(ServersTest, GoAfterAWhileAndTheirRoomWithThem) {
    const std::string id = box.boot("small", "spot", "host-2");
    EXPECT_EQ(remove(id).status(), 204);
    EXPECT_EQ(box.server(id)["OS-EXT-STS:task_state"], "deleting");
    EXPECT_TRUE(holds_room(id));
    EXPECT_EQ(remove(id).status(), 204) << "a second time is no error";
    box.settle();
    EXPECT_TRUE(box.server(id).is_null());
    EXPECT_FALSE(holds_room(id));
    EXPECT_EQ(box.told("instance.delete.end").size(), 1U);
}

TEST_F(ServersTest, OnAHeldHostGoWhenItIsReleased) {
    const std::string id = box.boot("small", "spot", "host-2");
    box.call("POST", "/admin/hosts/host-2/hold");
    remove(id);
    box.settle();
    EXPECT_EQ(box.server(id)["OS-EXT-STS:task_state"], "deleting");
    EXPECT_TRUE(holds_room(id));
    box.call("POST", "/admin/hosts/host-2/release");
    EXPECT_TRUE(box.server(id).is_null());
    EXPECT_FALSE(holds_room(id));
}

TEST_F(ServersTest, WithALostDeletionNeverGo) {
    const std::string id = box.boot("small", "spot", "host-2");
    box.call("POST", "/admin/faults", {{"lose_deletions", 1}});
    EXPECT_EQ(remove(id).status(), 204);
    box.settle();
    EXPECT_EQ(box.server(id)["OS-EXT-STS:task_state"], "deleting");
    EXPECT_TRUE(holds_room(id));
}

TEST_F(ServersTest, OfAHostThatIsDownGoAtOnce) {
    const std::string id = box.boot("small", "spot", "host-2");
    box.call("POST", "/admin/hosts/host-2/agent", {{"down", true}});
    EXPECT_EQ(remove(id).status(), 204);
    EXPECT_TRUE(box.server(id).is_null());
    EXPECT_FALSE(holds_room(id));
}

TEST_F(ServersTest, WhereDeletionIsDeferredKeepTheirRoomUntilForced) {
    const std::string id = box.boot("small", "spot", "host-2");
    EXPECT_EQ(box.call("DELETE", "/soft" + servers + "/" + id).status(), 204);
    box.settle();
    EXPECT_EQ(box.server(id)["status"], "SOFT_DELETED");
    EXPECT_TRUE(holds_room(id));
    EXPECT_EQ(box.get(servers + "/detail?all_tenants=1").body["servers"].size(), 0U);
    EXPECT_EQ(box.get(servers + "/detail?all_tenants=1&deleted=1").body["servers"].size(), 1U);
    EXPECT_EQ(act(id, {{"forceDelete", nullptr}}).status(), 202);
    box.settle();
    EXPECT_FALSE(holds_room(id));
}

TEST_F(ServersTest, WhereDeletionIsDeferredGoWhenTheTimeIsOver) {
    const std::string id = box.boot("small", "spot", "host-2");
    box.call("DELETE", "/soft" + servers + "/" + id);
    box.settle();
    box.call("POST", "/admin/clock", {{"advance_s", 3700}});
    box.settle();
    EXPECT_FALSE(holds_room(id));
}

TEST_F(ServersTest, LocksStopUsersButNotAdministrators) {
    const std::string id = box.boot("small", "regular", "host-1");
    act(id, {{"lock", {{"locked_reason", "mine"}}}});
    EXPECT_EQ(box.server(id)["locked"], true);
    EXPECT_EQ(box.server(id)["locked_reason"], "mine");
    const Answer user = box.call("DELETE", servers + "/" + id, {}, "onlooker", "regular");
    EXPECT_EQ(user.status(), 409);
    EXPECT_EQ(remove(id).status(), 204);
}

TEST_F(ServersTest, AnAdministratorsLockIsNotItsOwnersToEndOrToReplace) {
    const std::string id = box.boot("small", "regular", "host-1");
    const auto by_owner = [&](const Json& action) {
        return box.call("POST", servers + "/" + id + "/action", action, "onlooker", "regular")
            .status();
    };
    const auto newest = [&] {
        const Answer all = box.call("GET", servers + "/" + id + "/os-instance-actions");
        const auto& action = all.body["instanceActions"][0];
        return std::pair{action["action"].get<std::string>(),
                         action["project_id"] == box.server(id)["tenant_id"]};
    };
    EXPECT_EQ(by_owner({{"lock", nullptr}}), 202);
    EXPECT_EQ(newest(), (std::pair{std::string{"lock"}, true}));
    act(id, {{"lock", nullptr}});
    EXPECT_EQ(newest(), (std::pair{std::string{"lock"}, false}));
    EXPECT_EQ(by_owner({{"lock", nullptr}}), 202);
    EXPECT_EQ(newest(), (std::pair{std::string{"lock"}, false})) << "it changed nothing";
    EXPECT_EQ(by_owner({{"unlock", nullptr}}), 403);
    EXPECT_EQ(box.server(id)["locked"], true);
    act(id, {{"unlock", nullptr}});
    EXPECT_EQ(box.server(id)["locked"], false);
}

TEST_F(ServersTest, InWorkCannotBeForced) {
    const std::string id = box.boot("small", "spot", "host-1");
    remove(id);
    const Answer forced = act(id, {{"forceDelete", nullptr}});
    EXPECT_EQ(forced.status(), 409);
    EXPECT_THAT(forced.body["conflictingRequest"]["message"].get<std::string>(),
                HasSubstr("task_state deleting"));
}

TEST_F(ServersTest, AResizeMovesAndHoldsRoomTwiceUntilConfirmed) {
    const std::string id = box.boot("small", "regular", "host-1");
    EXPECT_EQ(act(id, {{"resize", {{"flavorRef", box.flavor("medium")}}}}).status(), 202);
    EXPECT_EQ(box.server(id)["status"], "RESIZE");
    box.settle();
    EXPECT_EQ(box.server(id)["status"], "VERIFY_RESIZE");
    EXPECT_NE(host_of(id), "host-1");
    const std::string usages =
        "/placement/resource_providers/" + box.provider("host-1") + "/usages";
    EXPECT_EQ(box.get(usages).body["usages"]["VCPU"], 2) << "held by the migration";
    const auto waiting = [&] {
        return box.get("/compute/v2.1/os-migrations?status=finished").body["migrations"];
    };
    ASSERT_EQ(waiting().size(), 1U);
    EXPECT_EQ(waiting()[0]["instance_uuid"], id);
    EXPECT_EQ(waiting()[0]["source_compute"], "host-1");
    EXPECT_EQ(act(id, {{"confirmResize", nullptr}}).status(), 204);
    EXPECT_TRUE(waiting().empty());
    EXPECT_EQ(box.get(usages).body["usages"]["VCPU"], 0);
    EXPECT_EQ(box.server(id)["flavor"]["vcpus"], 5);
    EXPECT_EQ(box.told("instance.resize_finish.end").size(), 1U);
}

TEST_F(ServersTest, ARevertedResizeIsAsBefore) {
    const std::string id = box.boot("small", "regular", "host-1");
    act(id, {{"resize", {{"flavorRef", box.flavor("medium")}}}});
    box.settle();
    EXPECT_EQ(act(id, {{"revertResize", nullptr}}).status(), 202);
    EXPECT_EQ(host_of(id), "host-1");
    EXPECT_EQ(box.server(id)["flavor"]["vcpus"], 2);
    EXPECT_EQ(box.get("/placement/allocations/" + id).body["allocations"].size(), 1U);
    EXPECT_EQ(box.world().placement.consumer_count(), 1U);
}

TEST_F(ServersTest, ServerGroupsKeepApartOrTogether) {
    for (const char* policy : {"anti-affinity", "affinity"}) {
        const Answer made = box.call("POST", "/compute/v2.1/os-server-groups",
                                     {{"server_group", {{"name", policy}, {"policy", policy}}}},
                                     "admin", "regular");
        const std::string group = made.body["server_group"]["id"];
        std::set<std::string> hosts;
        for (int count = 0; count < 3; ++count) {
            const Answer asked = box.call("POST", servers,
                                          {{"server",
                                            {{"name", "grouped"},
                                             {"flavorRef", box.flavor("small")},
                                             {"imageRef", box.image()},
                                             {"networks", "none"}}},
                                           {"os:scheduler_hints", {{"group", group}}}},
                                          "admin", "regular");
            box.settle();
            const std::string id = asked.body["server"]["id"];
            hosts.insert(host_of(id));
            EXPECT_EQ(box.server(id)["server_groups"], Json::array({group}));
        }
        EXPECT_EQ(hosts.size(), std::string(policy) == "affinity" ? 1U : 3U) << policy;
    }
}

TEST_F(ServersTest, DisabledAndForcedDownHostsGetNone) {
    const Json services = box.get("/compute/v2.1/os-services?binary=nova-compute").body["services"];
    auto change = [&](std::size_t at, const Json& what) {
        const std::string id = services[at]["id"];
        return box.call("PUT", "/compute/v2.1/os-services/" + id, what).body["service"];
    };
    EXPECT_EQ(change(0, {{"status", "disabled"}, {"disabled_reason", "broken"}})["status"],
              "disabled");
    EXPECT_EQ(change(1, {{"forced_down", true}})["state"], "down");
    const Answer asked = box.ask("small");
    box.settle();
    EXPECT_EQ(host_of(asked.body["server"]["id"]), "host-3");
    EXPECT_EQ(box.told("service.update").size(), 2U);
    change(0, {{"status", "enabled"}});
    box.boot("small", "regular", "host-1");
}

TEST_F(ServersTest, AZoneIsAnAggregate) {
    const std::string path = "/compute/v2.1/os-aggregates";
    const Answer made =
        box.call("POST", path, {{"aggregate", {{"name", "east"}, {"availability_zone", "east"}}}});
    const std::string number = std::to_string(made.body["aggregate"]["id"].get<int>());
    box.call("POST", path + "/" + number + "/action", {{"add_host", {{"host", "host-2"}}}});
    const Answer asked = box.ask("small", "regular", {{"availability_zone", "east"}});
    box.settle();
    EXPECT_EQ(host_of(asked.body["server"]["id"]), "host-2");
    EXPECT_EQ(box.server(asked.body["server"]["id"])["OS-EXT-AZ:availability_zone"], "east");
    EXPECT_EQ(box.ask("small", "regular", {{"availability_zone", "west"}}).status(), 400);
    EXPECT_EQ(box.told("aggregate.add_host.end").size(), 1U);
}

TEST_F(ServersTest, RevocableOnesComeBackWhenRespawnIsOn) {
    const std::string id = box.boot("small", "spot", "host-2");
    box.call("POST", "/admin/respawn", {{"on", true}});
    remove(id);
    box.settle();
    const Json left = box.get(servers + "/detail?all_tenants=1").body["servers"];
    ASSERT_EQ(left.size(), 1U);
    EXPECT_NE(left[0]["id"], id);
    EXPECT_EQ(left[0]["OS-EXT-SRV-ATTR:host"], "host-2");
    EXPECT_TRUE(holds_room(left[0]["id"]));
    EXPECT_FALSE(holds_room(id));
}

}  // namespace
}  // namespace reaper::cloudsim::test::servers_test

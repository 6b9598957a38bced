#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "clients/openstack/nova_format.hpp"
#include "tests/clients/openstack/fake_openstack.hpp"

namespace reaper::nova_test {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using test::FakeOpenStack;
using test::json_reply;
using test::recorded_answer;
using test::Reply;
using test::ServerRequest;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::string list_path = "GET /nova/v2.1/servers/detail?all_tenants=1&limit=1000";

json server_row(const std::string& id) {
    json row = recorded_answer("nova-servers-detail")["servers"][1];
    row["id"] = id;
    return row;
}

Reply page(const std::vector<std::string>& ids, bool more) {
    json body{{"servers", json::array()}};
    for (const std::string& id : ids) body["servers"].push_back(server_row(id));
    if (more) body["servers_links"] = {{{"rel", "next"}, {"href", "http://evil.example/steal"}}};
    return json_reply(200, body.dump());
}

std::vector<std::string> ids_of(const std::vector<ServerRecord>& records) {
    std::vector<std::string> ids;
    for (const ServerRecord& record : records) ids.push_back(record.server.id.str());
    return ids;
}

class NovaTest : public ::testing::Test {
protected:
    NovaTest() : parts(cloud.connect()) {}
    Compute& nova() { return *parts.compute; }

    FakeOpenStack cloud;
    OpenStack parts;
};

TEST(NovaFormat, ReadsRecordedServers) {
    const auto page = openstack::read_servers(recorded_answer("nova-servers-detail").dump(),
                                              "GET nova /servers/detail");
    ASSERT_TRUE(page) << page.error().what;
    ASSERT_EQ(page->servers.size(), 3U);
    EXPECT_TRUE(page->more);
    const ServerRecord& failed = page->servers[0];
    EXPECT_EQ(failed.server.status, "ERROR");
    EXPECT_EQ(failed.server.host, "");
    EXPECT_EQ(failed.server.launched, std::nullopt);
    const ServerRecord& active = page->servers[1];
    EXPECT_EQ(active.server.id.str(), "157cb5d7-ad12-425b-af64-3ba7f81c3149");
    EXPECT_EQ(active.server.name, "t8");
    EXPECT_EQ(active.server.project.str(), "66353a943d1d438eb913527787c03586");
    EXPECT_EQ(active.server.host, "host02");
    EXPECT_EQ(active.server.status, "ACTIVE");
    EXPECT_EQ(active.server.task_state, "");
    EXPECT_FALSE(active.server.locked);
    const TimePoint day = std::chrono::sys_days(std::chrono::year(2026) / 11 / 20);
    EXPECT_EQ(active.server.created, day + 13h + 12min + 29s);
    EXPECT_EQ(active.server.launched, day + 13h + 12min + 31s);
    EXPECT_EQ(active.flavor.name, "spot-small");
    EXPECT_EQ(active.flavor.vcpus, 2);
    EXPECT_EQ(active.flavor.memory_mb, 1024);
    EXPECT_EQ(active.flavor.root_gb, 10);
    EXPECT_EQ(active.server.flavor_extra_specs.at("resources1:CUSTOM_PREEMPTIBLE"), "1");
    EXPECT_FALSE(active.boot_from_volume);
}

Result<ServerRecord> read_with(const std::string& key, const json& value) {
    json row = server_row("s1");
    row[key] = value;
    return openstack::read_server(json{{"server", row}}.dump(), "GET nova");
}

TEST(NovaFormat, KnowsAServerThatBootsFromAVolume) {
    EXPECT_TRUE(read_with("image", "")->boot_from_volume);
    EXPECT_FALSE(read_with("image", {{"id", "i"}})->boot_from_volume);
}

TEST(NovaFormat, ReadsWhatDecidesAboutADeletion) {
    EXPECT_TRUE(read_with("locked", true)->server.locked);
    EXPECT_EQ(read_with("OS-EXT-STS:task_state", "deleting")->server.task_state, "deleting");
    EXPECT_EQ(read_with("status", "SOFT_DELETED")->server.status, "SOFT_DELETED");
    EXPECT_EQ(read_with("metadata", {{"k", "v"}})->server.metadata.at("k"), "v");
    EXPECT_TRUE(read_with("tags", {"keep"})->server.tags.contains("keep"));
}

TEST(NovaFormat, NamesTheFieldThatIsWrong) {
    struct Case {
        const char* key;
        json value;
        const char* complaint;
    };
    for (const Case& wrong : std::vector<Case>{
             {"locked", "yes", "server.locked: expected true or false, found string"},
             {"created", "yesterday", "server.created: expected a time"},
             {"created", "2026-13-20T13:12:30Z", "server.created: expected a time"},
             {"tenant_id", nullptr, "server.tenant_id: expected a text, found null"},
             {"id", "", "server.id: is empty"},
             {"flavor", json::array(), "server.flavor: expected an object, found array"},
             {"metadata", {{"k", 1}}, "server.metadata.k: expected a text, found number"},
             {"tags", {"a", 2}, "server.tags[1]: expected a text, found number"}}) {
        const auto record = read_with(wrong.key, wrong.value);
        ASSERT_FALSE(record) << wrong.key;
        EXPECT_EQ(record.error().code, Errc::bad_answer) << wrong.key;
        EXPECT_THAT(record.error().what, HasSubstr(wrong.complaint)) << wrong.key;
        EXPECT_THAT(record.error().what, HasSubstr("GET nova: ")) << wrong.key;
    }
}

TEST(NovaFormat, SurvivesAnswersThatAreNoJson) {
    for (const char* body : {"", "<html>", "[1,", "null", "[]", "42", "{}", "{\"servers\": {}}"}) {
        const auto page = openstack::read_servers(body, "GET nova");
        ASSERT_FALSE(page) << body;
        EXPECT_EQ(page.error().code, Errc::bad_answer) << body;
    }
}

/// Nova takes `"\ud800"` from any user, fails to build the server, and lists it for good.
TEST(NovaFormat, AHalfOfASurrogatePairCostsNoList) {
    const auto shown = [](const std::string& text) {
        json row = server_row("s1");
        row["metadata"] = {{"a", "TEXT"}};
        std::string body = json{{"servers", {row, server_row("s2")}}}.dump();
        body.replace(body.find("TEXT"), 4, text);
        const auto page = openstack::read_servers(body, "GET nova");
        EXPECT_TRUE(page) << page.error().what;
        return page ? page->servers.at(0).server.metadata.at("a") : "";
    };
    EXPECT_EQ(shown(R"(\ud800)"), "\uFFFD");
    EXPECT_EQ(shown(R"(\uDFFFx\uDBFF\n)"), "\uFFFDx\uFFFD\n");
    EXPECT_EQ(shown(R"(\ude00\ud83d)"), "\uFFFD\uFFFD");
    EXPECT_EQ(shown(R"(\ud83d\ud83d\ude00\ude00)"), "\uFFFD\U0001F600\uFFFD");
    EXPECT_EQ(shown(R"(\\ud800\"\\\ud800)"), "\\ud800\"\\\uFFFD");
}

TEST(NovaFormat, AFieldThatIsHiddenFromUsIsAMissingRight) {
    for (const char* key : {"OS-EXT-SRV-ATTR:host", "extra_specs"}) {
        json row = server_row("s1");
        row.erase(key);
        row["flavor"].erase(key);
        const auto record = openstack::read_server(json{{"server", row}}.dump(), "GET nova");
        ASSERT_FALSE(record) << key;
        EXPECT_EQ(record.error().code, Errc::forbidden) << key;
        EXPECT_THAT(record.error().what, HasSubstr("give the user the admin role")) << key;
    }
}

TEST(NovaFormat, AServerOfACellThatIsDownHasNoHost) {
    const auto page = openstack::read_servers(R"({"servers": [{"id": "s1", "status": "UNKNOWN",
        "tenant_id": "p1", "created": "2026-11-20T13:12:30Z", "links": []}]})",
                                              "GET nova");
    ASSERT_TRUE(page) << page.error().what;
    EXPECT_EQ(page->servers[0].server.host, "");
    EXPECT_EQ(page->servers[0].server.status, "UNKNOWN");
}

TEST(NovaFormat, ReadsRecordedHypervisorsServicesAndAggregates) {
    const auto hypervisors = openstack::read_hypervisors(
        recorded_answer("nova-os-hypervisors-detail").dump(), "GET nova");
    ASSERT_TRUE(hypervisors) << hypervisors.error().what;
    ASSERT_EQ(hypervisors->hypervisors.size(), 3U);
    EXPECT_EQ(hypervisors->hypervisors[0].id.str(), "335ec9a8-ba39-4138-b807-859a56184961");
    EXPECT_EQ(hypervisors->hypervisors[0].service_host, "host02");
    EXPECT_EQ(hypervisors->hypervisors[0].type, "fake");
    const auto services =
        openstack::read_services(recorded_answer("nova-os-services-compute").dump(), "GET nova");
    ASSERT_TRUE(services) << services.error().what;
    ASSERT_EQ(services->size(), 3U);
    EXPECT_EQ((*services)[0].host, "host03");
    EXPECT_EQ((*services)[0].zone, "nova");
    EXPECT_TRUE((*services)[0].enabled && (*services)[0].up);
    const auto none =
        openstack::read_aggregates(recorded_answer("nova-os-aggregates").dump(), "GET nova");
    ASSERT_TRUE(none) << none.error().what;
    EXPECT_TRUE(none->empty());
    const auto one = openstack::read_aggregates(R"({"aggregates": [{"uuid": "u", "name": "n",
        "hosts": ["h1", "h2"], "metadata": {"availability_zone": "az1"}}]})",
                                                "GET nova");
    ASSERT_TRUE(one) << one.error().what;
    EXPECT_THAT((*one)[0].hosts, ElementsAre("h1", "h2"));
    EXPECT_EQ((*one)[0].metadata.at("availability_zone"), "az1");
}

TEST(NovaFormat, ReadsAServerGroup) {
    const auto group = openstack::read_server_group(
        R"({"server_group": {"id": "g", "name": "apart", "policy": "anti-affinity",
            "rules": {"max_server_per_host": 3}, "members": ["s1", "s2"]}})",
        "GET nova");
    ASSERT_TRUE(group) << group.error().what;
    EXPECT_TRUE(group->apart());
    EXPECT_EQ(group->name, "apart");
    EXPECT_EQ(group->max_on_a_host, 3);
    EXPECT_THAT(group->members, ElementsAre(ServerId("s1"), ServerId("s2")));
}

TEST(NovaFormat, ReadsAServerGroupAsItWasBefore264) {
    const auto group = openstack::read_server_group(
        R"({"server_group": {"id": "g", "name": "n", "policies": ["affinity"], "metadata": {},
            "members": []}})",
        "GET nova");
    ASSERT_TRUE(group) << group.error().what;
    EXPECT_TRUE(group->together());
    EXPECT_EQ(group->max_on_a_host, 1);
}

TEST(NovaFormat, ReadsTheImageAndTheGroupsOfAServer) {
    json row = server_row("a");
    row["image"] = {{"id", "i-1"}, {"links", json::array()}};
    row["server_groups"] = {"g-1"};
    const auto record = openstack::read_server(json{{"server", row}}.dump(), "GET nova");
    ASSERT_TRUE(record) << record.error().what;
    EXPECT_EQ(record->image, "i-1");
    EXPECT_TRUE(record->image_properties.empty());
    row["image"]["properties"] = {{"hw_tpm_version", "2.0"}, {"min_ram", 0}};  // since 2.98
    const auto newer = openstack::read_server(json{{"server", row}}.dump(), "GET nova");
    ASSERT_TRUE(newer) << newer.error().what;
    EXPECT_EQ(newer->image_properties,
              (std::map<std::string, std::string>{{"hw_tpm_version", "2.0"}}));
    EXPECT_THAT(record->groups, ElementsAre("g-1"));
}

TEST(NovaFormat, ReadsWhatNewerReleasesTellOfAServersWishes) {
    json row = server_row("a");
    row["pinned_availability_zone"] = nullptr;
    row["scheduler_hints"] = {{"same_host", "near"}, {"different_host", {"far", "away"}}, {"x", 1}};
    auto record = openstack::read_server(json{{"server", row}}.dump(), "GET nova");
    ASSERT_TRUE(record) << record.error().what;
    EXPECT_EQ(record->zone, std::nullopt);
    EXPECT_THAT(record->same_host, ElementsAre(ServerId{"near"}));
    EXPECT_THAT(record->different_host, ElementsAre(ServerId{"away"}, ServerId{"far"}));
    row["pinned_availability_zone"] = "east";
    record = openstack::read_server(json{{"server", row}}.dump(), "GET nova");
    ASSERT_TRUE(record) << record.error().what;
    EXPECT_EQ(record->zone, "east");
}

TEST(NovaFormat, AServiceIsUpOnlyIfItIsUpAndNotForcedDown) {
    const auto read = [](const std::string& state, bool forced, const std::string& status) {
        const json body{{"services",
                         {{{"binary", "nova-compute"},
                           {"host", "h"},
                           {"zone", "nova"},
                           {"state", state},
                           {"status", status},
                           {"forced_down", forced},
                           {"disabled_reason", "maintenance"}},
                          {{"binary", "nova-scheduler"}, {"host", "c"}}}}};
        return openstack::read_services(body.dump(), "GET nova").value();
    };
    EXPECT_EQ(read("up", false, "enabled").size(), 1U) << "only nova-compute";
    EXPECT_TRUE(read("up", false, "enabled")[0].up);
    EXPECT_FALSE(read("up", true, "enabled")[0].up);
    EXPECT_FALSE(read("down", false, "enabled")[0].up);
    EXPECT_FALSE(read("up", false, "disabled")[0].enabled);
    EXPECT_EQ(read("up", false, "disabled")[0].disabled_reason, "maintenance");
}

/// A resize with these events.
std::string action_with(const std::string& events) {
    return R"({"instanceAction": {"action": "resize", "request_id": "req-1", "project_id": "p",
               "start_time": "2026-11-20T12:00:00.000000", "message": null, "events": )" +
           events + "}}";
}

std::string action_event(const std::string& name, int began, int ended, const char* result) {
    const auto at = [](int second) {
        return R"("2026-11-20T12:00:)" + std::string(second < 10 ? "0" : "") +
               std::to_string(second) + R"(.000000")";
    };
    return R"({"event": ")" + name + R"(", "start_time": )" + at(began) + R"(, "finish_time": )" +
           (ended == 0 ? "null" : at(ended)) + R"(, "result": )" +
           (ended == 0 ? "null" : std::string("\"") + result + '"') + "}";
}

TEST_F(NovaTest, ReadsAllPagesFromItsOwnEndpointOnly) {
    cloud.on(list_path, page({"a", "b"}, true));
    cloud.on(list_path + "&marker=b", page({"c"}, true));
    cloud.on(list_path + "&marker=c", page({}, false));
    const auto servers = cloud.run(nova().servers({}));
    ASSERT_TRUE(servers) << servers.error().what;
    EXPECT_THAT(ids_of(*servers), ElementsAre("a", "b", "c"));
}

TEST_F(NovaTest, APageWithoutALinkIsNotTheEndWhileItBringsServers) {
    // As Nova answers while builds fail: the page is short, and no link says that there is more.
    cloud.on(list_path, page({"a"}, false));
    cloud.on(list_path + "&marker=a", page({"b"}, false));
    const auto servers = cloud.run(nova().servers({}));
    ASSERT_TRUE(servers) << servers.error().what;
    EXPECT_THAT(ids_of(*servers), ElementsAre("a", "b"));
}

TEST_F(NovaTest, AListOfAHostEndsWhereNoLinkFollows) {
    const std::string host = server_row("a")["OS-EXT-SRV-ATTR:host"];
    const std::string of_host = list_path + "&host=" + host;
    cloud.on(of_host, page({"a"}, true));
    cloud.on(of_host + "&marker=a", page({"b"}, false));
    const auto servers = cloud.run(nova().servers_on(host));
    ASSERT_TRUE(servers) << servers.error().what;
    EXPECT_THAT(ids_of(*servers), ElementsAre("a", "b"));
}

TEST_F(NovaTest, AListOfAHostGoesOnWhereItIsOneOfAllHosts) {
    // As without the right to filter by host: then builds that fail make pages short.
    json elsewhere = server_row("x");
    const std::string host = elsewhere["OS-EXT-SRV-ATTR:host"];
    elsewhere["OS-EXT-SRV-ATTR:host"] = "another";
    const std::string of_host = list_path + "&host=" + host;
    const json body{{"servers", {server_row("a"), elsewhere}}};
    cloud.on(of_host, json_reply(200, body.dump()));
    cloud.on(of_host + "&marker=x", page({"b"}, false));
    cloud.on(of_host + "&marker=b", page({}, false));
    const auto servers = cloud.run(nova().servers_on(host));
    ASSERT_TRUE(servers) << servers.error().what;
    EXPECT_THAT(ids_of(*servers), ElementsAre("a", "b"));
}

TEST_F(NovaTest, TakesAServerThatIsOnTwoPagesOnce) {
    cloud.on(list_path, page({"a", "b"}, true));
    cloud.on(list_path + "&marker=b", page({"b", "c"}, false));
    const auto servers = cloud.run(nova().servers({}));
    ASSERT_TRUE(servers) << servers.error().what;
    EXPECT_THAT(ids_of(*servers), ElementsAre("a", "b", "c"));
}

TEST_F(NovaTest, LeavesDeletedServersOut) {
    json body{{"servers", {server_row("a"), server_row("b")}}};
    body["servers"][0]["status"] = "DELETED";
    cloud.on(list_path, json_reply(200, body.dump()));
    EXPECT_THAT(ids_of(*cloud.run(nova().servers({}))), ElementsAre("b"));
}

TEST_F(NovaTest, StartsAgainWhenTheMarkerVanished) {
    int lists = 0;
    cloud.on(list_path, [&](const ServerRequest&) {
        return ++lists == 1 ? page({"a", "b"}, true) : page({"a", "c"}, false);
    });
    cloud.on(list_path + "&marker=b",
             json_reply(400, R"({"badRequest": {"message": "marker [b] not found"}})"));
    const auto servers = cloud.run(nova().servers({}));
    ASSERT_TRUE(servers) << servers.error().what;
    EXPECT_THAT(ids_of(*servers), ElementsAre("a", "c"));
}

TEST_F(NovaTest, GivesUpWhenEveryMarkerVanishes) {
    cloud.on(list_path, page({"a", "b"}, true));
    cloud.on(list_path + "&marker=b", json_reply(400, "{}"));
    const auto servers = cloud.run(nova().servers({}));
    ASSERT_FALSE(servers);
    EXPECT_EQ(servers.error().code, Errc::conflict);
    EXPECT_LT(cloud.server.requests().size(), 30U);
}

TEST_F(NovaTest, NoticesPagesThatRepeat) {
    cloud.on(list_path, page({"a", "b"}, true));
    cloud.on(list_path + "&marker=b", page({"a", "b"}, true));
    const auto servers = cloud.run(nova().servers({}));
    ASSERT_FALSE(servers);
    EXPECT_EQ(servers.error().code, Errc::bad_answer);
    EXPECT_THAT(servers.error().what, HasSubstr("repeat"));
}

TEST_F(NovaTest, ReadsOneServer) {
    cloud.on("GET /nova/v2.1/servers/a", json_reply(200, json{{"server", server_row("a")}}.dump()));
    const auto found = cloud.run(nova().server(ServerId("a")));
    ASSERT_TRUE(found) << found.error().what;
    ASSERT_TRUE(found->has_value());
    EXPECT_EQ((*found)->server.host, "host02");
    cloud.on(list_path + "&uuid=b", page({}, false));
    const auto none = cloud.run(nova().server(ServerId("b")));
    ASSERT_TRUE(none) << none.error().what;
    EXPECT_FALSE(none->has_value());
}

/// To one who is no administrator, Nova says "not found" of others' servers, and drops the filter.
TEST_F(NovaTest, AServerThatIsListedAndNotShownIsNotGone) {
    cloud.on(list_path + "&uuid=b", page({"a", "b"}, false));
    cloud.on(list_path + "&uuid=b&marker=b", page({}, false));
    const auto hidden = cloud.run(nova().server(ServerId("b")));
    ASSERT_FALSE(hidden);
    EXPECT_EQ(hidden.error().code, Errc::forbidden);
    EXPECT_THAT(hidden.error().what,
                HasSubstr("\"context_is_admin\": \"role:admin or role:ROLE\""));
    cloud.on(list_path + "&uuid=c", json_reply(403, "{}"));
    EXPECT_EQ(cloud.run(nova().server(ServerId("c"))).error().code, Errc::forbidden)
        << "an unknown fact is no answer";
}

TEST_F(NovaTest, ToAnAdministratorWhatIsNotShownIsGone) {
    const auto shown = [&](const std::string& id, const std::string& project) {
        json row = server_row(id);
        row["tenant_id"] = project;
        cloud.on("GET /nova/v2.1/servers/" + id, json_reply(200, json{{"server", row}}.dump()));
        EXPECT_TRUE(cloud.run(nova().server(ServerId(id))));
    };
    cloud.on(list_path + "&uuid=gone", json_reply(403, "{}"));
    shown("a", "one");
    shown("b", "one");
    EXPECT_FALSE(cloud.run(nova().server(ServerId("gone")))) << "both may be our own";
    shown("c", "other");
    const auto gone = cloud.run(nova().server(ServerId("gone")));
    ASSERT_TRUE(gone) << gone.error().what;
    EXPECT_FALSE(gone->has_value());
    cloud.clock.advance(31s);
    EXPECT_FALSE(cloud.run(nova().server(ServerId("gone")))) << "it may no longer be one";
}

json shown_flavor(const std::string& id, const std::string& name) {
    return json{{"id", id},    {"name", name}, {"vcpus", 2},
                {"ram", 2048}, {"disk", 20},   {"OS-FLV-EXT-DATA:ephemeral", 1},
                {"swap", ""}};
}

TEST_F(NovaTest, ListsAllFlavorsInPages) {
    const std::string path = "GET /nova/v2.1/flavors/detail?is_public=None&limit=1000";
    const auto page = [](std::vector<json> rows) {
        return json_reply(200, json{{"flavors", std::move(rows)}}.dump());
    };
    json gpu = shown_flavor("3", "gpu");
    gpu["extra_specs"] = {{"resources:VGPU", "1"}};
    gpu["swap"] = 512;
    cloud.on(path, page({shown_flavor("1", "small"), shown_flavor("2", "large")}));
    cloud.on(path + "&marker=2", page({gpu}));
    cloud.on(path + "&marker=3", page({}));
    const auto flavors = cloud.run(nova().all_flavors());
    ASSERT_TRUE(flavors) << flavors.error().what;
    ASSERT_EQ(flavors->size(), 3U);
    EXPECT_EQ(flavors->at("1"), (Flavor{"small", 2, 2048, 20, 1, 0, {}}));
    EXPECT_EQ(flavors->at("3"), (Flavor{"gpu", 2, 2048, 20, 1, 512, {{"resources:VGPU", "1"}}}));
    cloud.on(path + "&marker=2", json_reply(400, "{}"));
    EXPECT_EQ(cloud.run(nova().all_flavors()).error().code, Errc::conflict);
}

TEST_F(NovaTest, TheVersionOfItsApiTellsTheRelease) {
    EXPECT_EQ(cloud.run(nova().release()).value(), NovaRelease::zed);
    cloud.on("GET /nova/v2.1/",
             json_reply(200, R"({"version": {"version": "2.96", "min_version": "2.1"}})"));
    EXPECT_EQ(cloud.run(nova().release()).value(), NovaRelease::zed) << "for some minutes";
    auto later = cloud.connect();
    EXPECT_EQ(cloud.run(later.compute->release()).value(), NovaRelease::r2024_2);
}

TEST_F(NovaTest, AServerThatIsDeletedIsNone) {
    json row = server_row("a");
    row["status"] = "DELETED";
    cloud.on("GET /nova/v2.1/servers/a", json_reply(200, json{{"server", row}}.dump()));
    EXPECT_FALSE(cloud.run(nova().server(ServerId("a")))->has_value());
    EXPECT_TRUE(cloud.run(nova().server_or_deleted(ServerId("a")))->has_value());
}

TEST_F(NovaTest, TheAnswerMustBeAboutTheServerThatWasAskedFor) {
    cloud.on("GET /nova/v2.1/servers/a",
             json_reply(200, json{{"server", server_row("other")}}.dump()));
    EXPECT_EQ(cloud.run(nova().server(ServerId("a"))).error().code, Errc::bad_answer);
}

TEST_F(NovaTest, AFailedReadIsNotANone) {
    cloud.on("GET /nova/v2.1/servers/a", json_reply(503, "{}"));
    EXPECT_EQ(cloud.run(nova().server(ServerId("a"))).error().code, Errc::server_error);
}

TEST_F(NovaTest, ReadsAServerGroupByItsId) {
    cloud.on("GET /nova/v2.1/os-server-groups/g",
             json_reply(200, R"({"server_group": {"id": "g", "name": "n", "policy": "affinity",
                                 "rules": {}, "members": ["s1"]}})"));
    const auto found = cloud.run(nova().server_group("g"));
    ASSERT_TRUE(found) << found.error().what;
    ASSERT_TRUE(found->has_value());
    EXPECT_TRUE((*found)->together());
    const auto none = cloud.run(nova().server_group("gone"));
    ASSERT_TRUE(none) << none.error().what;
    EXPECT_FALSE(none->has_value());
}

TEST_F(NovaTest, NamesTheActionOfARequest) {
    cloud.on("GET /nova/v2.1/servers/a/os-instance-actions/req-1",
             json_reply(200, action_with("[]")));
    const auto found = cloud.run(nova().action(ServerId("a"), RequestId("req-1")));
    ASSERT_TRUE(found && *found) << found.error().what;
    EXPECT_EQ((*found)->name, "resize");
    EXPECT_FALSE((*found)->ended) << "none of its parts has begun";
    EXPECT_FALSE(cloud.run(nova().action(ServerId("a"), RequestId("req-2"))).value().has_value());
    cloud.on("GET /nova/v2.1/servers/a/os-instance-actions/req-3",
             json_reply(200, action_with("[]")));
    EXPECT_FALSE(cloud.run(nova().action(ServerId("a"), RequestId("req-3")))) << "another action";
}

TEST_F(NovaTest, ReadsWhatWasDoneToAServer) {
    cloud.on("GET /nova/v2.1/servers/a/os-instance-actions",
             json_reply(200, R"({"instanceActions": [
                 {"action": "unshelve", "request_id": "req-2", "project_id": "p",
                  "message": "Error", "start_time": "2026-11-20T13:12:30.000000"},
                 {"action": "shelve", "request_id": "req-1", "project_id": null,
                  "message": null, "start_time": "2026-11-20T13:11:00.000000"}]})"));
    const auto actions = cloud.run(nova().actions(ServerId("a")));
    ASSERT_TRUE(actions) << actions.error().what;
    ASSERT_EQ(actions->size(), 2U);
    EXPECT_EQ((*actions)[0].name, "unshelve");
    EXPECT_EQ((*actions)[0].request, RequestId("req-2"));
    EXPECT_TRUE((*actions)[0].failed);
    EXPECT_FALSE((*actions)[1].failed);
    EXPECT_EQ((*actions)[0].started - (*actions)[1].started, 90s);
    EXPECT_TRUE(cloud.run(nova().actions(ServerId("b")))->empty());
}

TEST_F(NovaTest, FindsTheLastHostOfAServerInItsActions) {
    cloud.on("GET /nova/v2.1/servers/a/os-instance-actions",
             json_reply(200, R"({"instanceActions": [
        {"action": "unshelve", "request_id": "req-3", "project_id": "p", "message": "Error",
         "start_time": "2026-11-20T12:03:00.000000"},
        {"action": "shelve", "request_id": "req-2", "project_id": "p", "message": null,
         "start_time": "2026-11-20T12:02:00.000000"}]})"));
    // What the conductor did says where the conductor is.
    cloud.on("GET /nova/v2.1/servers/a/os-instance-actions/req-3",
             json_reply(200, R"({"instanceAction": {"action": "unshelve", "events": [
        {"event": "conductor_unshelve_instance", "host": "controller",
         "start_time": "2026-11-20T12:03:00.000000"}]}})"));
    cloud.on("GET /nova/v2.1/servers/a/os-instance-actions/req-2",
             json_reply(200, R"({"instanceAction": {"action": "shelve", "events": [
        {"event": "compute_shelve_offload_instance", "host": "c2",
         "start_time": "2026-11-20T12:02:09.000000"},
        {"event": "compute_shelve_instance", "host": "c1",
         "start_time": "2026-11-20T12:02:00.000000"}]}})"));
    EXPECT_THAT(cloud.run(nova().last_host(ServerId("a"))).value(),
                ::testing::Optional(std::string("c2")));
    EXPECT_EQ(cloud.run(nova().last_host(ServerId("b"))).value(), std::nullopt);
}

TEST_F(NovaTest, ReadsTheNumbersOfOldVersions) {
    std::vector<std::string> versions;
    const auto answer = [&](const char* body) {
        return [&versions, body](const ServerRequest& request) {
            versions.push_back(request.header("openstack-api-version"));
            return json_reply(200, body);
        };
    };
    cloud.on("GET /nova/v2.1/os-services?binary=nova-compute",
             answer(R"({"services": [{"id": 7, "binary": "nova-compute", "host": "c1"},
                                     {"id": 7, "binary": "nova-compute", "host": "c2"}]})"));
    cloud.on("GET /nova/v2.1/os-hypervisors",
             answer(R"({"hypervisors": [{"id": 1, "hypervisor_hostname": "c1"}]})"));
    const auto numbers = cloud.run(nova().host_numbers());
    ASSERT_TRUE(numbers) << numbers.error().what;
    ASSERT_EQ(numbers->services.size(), 2U);
    EXPECT_EQ(numbers->services[1].host, "c2");
    EXPECT_EQ(numbers->services[1].number, 7);
    ASSERT_EQ(numbers->hypervisors.size(), 1U);
    EXPECT_THAT(versions, ElementsAre("compute 2.1", "compute 2.1"));
}

TEST_F(NovaTest, ListsServersThatWereShelvedOrChangedLately) {
    json shelved = server_row("a");
    shelved["status"] = "SHELVED_OFFLOADED";
    json body{{"servers", {shelved, server_row("b")}}};
    cloud.on(list_path + "&status=SHELVED_OFFLOADED&changes-since=2026-11-20T13%3A12%3A30Z",
             json_reply(200, body.dump()));
    cloud.on(
        list_path + "&status=SHELVED_OFFLOADED&changes-since=2026-11-20T13%3A12%3A30Z&marker=b",
        json_reply(200, R"({"servers": []})"));
    const TimePoint since{std::chrono::sys_days{std::chrono::year{2026} / 11 / 20} + 13h + 12min +
                          30s + 700ms};
    const auto listed = cloud.run(nova().servers_in({"SHELVED_OFFLOADED"}, since));
    ASSERT_TRUE(listed) << listed.error().what;
    EXPECT_THAT(ids_of(*listed), ElementsAre("a"));
}

TEST_F(NovaTest, ListsServersOfSeveralStatuses) {
    json resized = server_row("a");
    resized["status"] = "RESIZE";
    json body{{"servers", {resized, server_row("b")}}};
    cloud.on(list_path + "&status=MIGRATING&status=RESIZE", json_reply(200, body.dump()));
    cloud.on(list_path + "&status=MIGRATING&status=RESIZE&marker=b",
             json_reply(200, R"({"servers": []})"));
    const auto listed = cloud.run(nova().servers_in({"RESIZE", "MIGRATING"}, {}));
    ASSERT_TRUE(listed) << listed.error().what;
    EXPECT_THAT(ids_of(*listed), ElementsAre("a")) << "Nova's answer to several is wider";
}

TEST_F(NovaTest, WhatChangedIsListedToTheVeryEnd) {
    json shelved = server_row("a");
    shelved["status"] = "SHELVED_OFFLOADED";
    const std::string path = list_path + "&deleted=false&changes-since=2026-11-20T13%3A12%3A30Z";
    json first{{"servers", {shelved}}};
    json second{{"servers", {server_row("b")}}};
    // Nova counts rows that it leaves out, and then tells of no next page.
    cloud.on(path, json_reply(200, first.dump()));
    cloud.on(path + "&marker=a", json_reply(200, second.dump()));
    cloud.on(path + "&marker=b", json_reply(200, R"({"servers": []})"));
    const TimePoint since{std::chrono::sys_days{std::chrono::year{2026} / 11 / 20} + 13h + 12min +
                          30s};
    const auto listed = cloud.run(nova().servers_in({}, since));
    ASSERT_TRUE(listed) << listed.error().what;
    EXPECT_THAT(ids_of(*listed), ElementsAre("a", "b"));
}

TEST_F(NovaTest, DeletionsAnswerInThreeWays) {
    cloud.on("DELETE /nova/v2.1/servers/a", json_reply(204, ""));
    cloud.on("DELETE /nova/v2.1/servers/b", json_reply(409, "{}"));
    EXPECT_EQ(cloud.run(nova().delete_server(ServerId("a"), {})).value(), DeleteAnswer::accepted);
    EXPECT_EQ(cloud.run(nova().delete_server(ServerId("b"), {})).value(), DeleteAnswer::conflict);
    EXPECT_EQ(cloud.run(nova().delete_server(ServerId("c"), {})).value(), DeleteAnswer::gone);
}

TEST_F(NovaTest, ForceDeletesByAnAction) {
    std::string sent;
    cloud.on("POST /nova/v2.1/servers/a/action", [&](const ServerRequest& request) {
        sent = request.body;
        return json_reply(202, "");
    });
    EXPECT_EQ(cloud.run(nova().force_delete_server(ServerId("a"), {})).value(),
              DeleteAnswer::accepted);
    EXPECT_EQ(json::parse(sent), json::parse(R"({"forceDelete": null})"));
    EXPECT_EQ(cloud.run(nova().force_delete_server(ServerId("c"), {})).value(), DeleteAnswer::gone);
}

TEST_F(NovaTest, SetsOneKeyOfTheMetadata) {
    std::string sent;
    cloud.on("POST /nova/v2.1/servers/a/metadata", [&](const ServerRequest& request) {
        sent = request.body;
        return json_reply(200, R"({"metadata": {"res-type": "regular", "mine": "1"}})");
    });
    EXPECT_TRUE(cloud.run(nova().set_metadata(ServerId("a"), "res-type", "regular")).value());
    EXPECT_EQ(json::parse(sent), json::parse(R"({"metadata": {"res-type": "regular"}})"));
    EXPECT_FALSE(cloud.run(nova().set_metadata(ServerId("c"), "res-type", "regular")).value());
    EXPECT_EQ(cloud.run(nova().set_metadata(ServerId(""), "k", "v")).error().code, Errc::bad_input);
}

TEST_F(NovaTest, ADeletionWhoseAnswerWasLostIsRepeated) {
    int deletions = 0;
    cloud.on("DELETE /nova/v2.1/servers/a", [&](const ServerRequest&) {
        Reply reply = json_reply(404, "{}");
        reply.no_answer = ++deletions <= 2;
        return reply;
    });
    EXPECT_EQ(cloud.run(nova().delete_server(ServerId("a"), {})).value(), DeleteAnswer::gone);
    EXPECT_EQ(deletions, 3);
}

TEST_F(NovaTest, ADeletionNeedsAnIdAndCannotLeaveItsPath) {
    EXPECT_EQ(cloud.run(nova().delete_server(ServerId(""), {})).error().code, Errc::bad_input);
    EXPECT_EQ(cloud.run(nova().delete_server(ServerId("../os-services/1"), {})).value(),
              DeleteAnswer::gone);
    EXPECT_EQ(cloud.server.count("DELETE", "/nova/v2.1/servers/..%2Fos-services%2F1"), 1U);
}

TEST_F(NovaTest, ReadsHypervisorsInPages) {
    json body = recorded_answer("nova-os-hypervisors-detail");
    body["hypervisors_links"] = {{{"rel", "next"}, {"href", "http://evil.example"}}};
    const std::string path = "GET /nova/v2.1/os-hypervisors/detail?limit=1000";
    cloud.on(path, json_reply(200, body.dump()));
    cloud.on(path + "&marker=4ed30e09-b2a9-4f8d-98e4-0063e7e68c02",
             json_reply(200, R"({"hypervisors": []})"));
    const auto hypervisors = cloud.run(nova().hypervisors());
    ASSERT_TRUE(hypervisors) << hypervisors.error().what;
    EXPECT_EQ(hypervisors->size(), 3U);
}

/// Nova leaves hosts without mapping out of a page that it has counted already.
TEST_F(NovaTest, AShortPageOfHypervisorsIsNotTheEnd) {
    const json recorded = recorded_answer("nova-os-hypervisors-detail");
    const std::string path = "GET /nova/v2.1/os-hypervisors/detail?limit=1000";
    const auto rows = [&](std::size_t from, std::size_t to) {
        json body{{"hypervisors", json::array()}};
        for (; from < to; ++from) body["hypervisors"].push_back(recorded["hypervisors"][from]);
        return json_reply(200, body.dump());
    };
    const auto marker = [&](std::size_t at) {
        return "&marker=" + recorded["hypervisors"][at]["id"].get<std::string>();
    };
    cloud.on(path, rows(0, 1));
    cloud.on(path + marker(0), rows(1, 3));
    cloud.on(path + marker(2), rows(3, 3));
    const auto hypervisors = cloud.run(nova().hypervisors());
    ASSERT_TRUE(hypervisors) << hypervisors.error().what;
    EXPECT_EQ(hypervisors->size(), 3U);
}

// ---- the result of an action ----

ActionRecord action_of(const std::string& body) {
    const auto read = openstack::read_action(body, "nova");
    EXPECT_TRUE(read) << read.error().what;
    return read ? *read : ActionRecord{};
}

TEST(ReadAction, RecordedFailures) {
    for (const auto* name : {"create", "resize"}) {
        const auto recorded = recorded_answer(std::string("nova-action-") + name + "-failed");
        const ActionRecord action = action_of(recorded.dump());
        EXPECT_EQ(action.name, name);
        EXPECT_TRUE(action.ended && action.failed);
        EXPECT_EQ(action.cause, FailureCause::no_valid_host);
        EXPECT_TRUE(action.message.starts_with("No valid host was found."));
        EXPECT_GE(action.last_event, action.started);
    }
}

TEST(ReadAction, IsUnderWayWhileAPartOfItIs) {
    const std::string done = action_event("cold_migrate", 1, 2, "Error");
    const std::string open = action_event("conductor_migrate_server", 1, 0, "");
    EXPECT_FALSE(action_of(action_with("[" + done + "," + open + "]")).ended);
    const ActionRecord ended = action_of(action_with("[" + done + "]"));
    EXPECT_TRUE(ended.ended && ended.failed);
    EXPECT_EQ(ended.last_event - ended.started, 2s);
}

TEST(ReadAction, TheLastOfSeveralTriesCounts) {
    // Nova writes the end of each try into the row of the first.
    const std::string first = action_event("conductor_migrate_server", 1, 9, "Error");
    const std::string second = action_event("conductor_migrate_server", 5, 0, "");
    const ActionRecord failed = action_of(action_with("[" + first + "," + second + "]"));
    EXPECT_TRUE(failed.ended && failed.failed);
    const std::string well = action_event("compute_prep_resize", 6, 7, "Success");
    const std::string bad = action_event("compute_prep_resize", 2, 3, "Error");
    EXPECT_FALSE(action_of(action_with("[" + well + "," + bad + "]")).failed);
    EXPECT_FALSE(action_of(action_with("[" + bad + "," + well + "]")).failed);
    const std::string again = action_event("compute_prep_resize", 8, 0, "");
    EXPECT_FALSE(action_of(action_with("[" + bad + "," + again + "]")).ended);
}

TEST(ReadServer, TheCauseOfAFailureIsNovasException) {
    const auto cause = [](const std::string& message, const std::string& details) {
        json body = recorded_answer("nova-server-error");
        body["server"]["fault"]["message"] = message;
        body["server"]["fault"]["details"] = details;
        const auto read = openstack::read_server(body.dump(), "nova");
        return read->fault->cause;
    };
    EXPECT_EQ(cause("No valid host was found. ", ""), FailureCause::no_valid_host);
    EXPECT_EQ(cause("Es wurde kein Host gefunden.", "nova.exception.NoValidHost: Es wurde"),
              FailureCause::no_valid_host);
    EXPECT_EQ(cause("Exceeded maximum number of retries. Exhausted all hosts", ""),
              FailureCause::retries_exhausted);
    EXPECT_EQ(cause("Port 1 is in use", "nova.exception.PortInUse: Port 1"), FailureCause::other);
    EXPECT_EQ(cause("", ""), FailureCause::not_reported);
    const std::string search = "in select_destinations\n    return cctxt.call(ctxt, ...";
    EXPECT_EQ(cause("Es wurde kein Host gefunden.", search), FailureCause::no_valid_host);
    EXPECT_EQ(cause("MessagingTimeout", search), FailureCause::other);
    EXPECT_EQ(cause("RemoteError", search), FailureCause::other);
    EXPECT_EQ(cause("ServerGroup policy is not supported: x",
                    search + "nova.exception.UnsupportedPolicyException: ServerGroup"),
              FailureCause::other);
}

TEST(ReadServer, AHostThatIsMissingForAnotherReasonIsAnotherCause) {
    const auto cause = [](const std::string& details) {
        json body = recorded_answer("nova-server-error");
        body["server"]["fault"]["message"] = "No valid host was found. ";
        body["server"]["fault"]["details"] = "nova.exception.NoValidHost: " + details;
        return openstack::read_server(body.dump(), "nova")->fault->cause;
    };
    const std::string moved = "No valid host was found. No valid host found for cold migrate";
    EXPECT_EQ(cause(moved), FailureCause::no_valid_host);
    EXPECT_EQ(cause("No valid host was found. Unable to replace instance claim on source\n\n"
                    "During handling of the above exception, another exception occurred:\n\n"
                    "nova.exception.NoValidHost: " +
                    moved),
              FailureCause::other);
    EXPECT_EQ(cause("No valid host was found. Scheduling failed: No hosts available for tenant"),
              FailureCause::other);
}

TEST_F(NovaTest, TheServersOfOneRequest) {
    json ours = server_row("a");
    ours["OS-EXT-SRV-ATTR:reservation_id"] = "r-1";
    // Nova passes over a filter that it does not allow.
    cloud.on(list_path + "&reservation_id=r-1",
             json_reply(200, json{{"servers", {ours, server_row("b")}}}.dump()));
    EXPECT_THAT(ids_of(*cloud.run(nova().servers_of("r-1"))), ElementsAre("a"));
    EXPECT_THAT(cloud.server.requests().back().target, Not(HasSubstr("marker")))
        << "a page without a link is the last";
    EXPECT_FALSE(cloud.run(nova().servers_of("")));
}

TEST_F(NovaTest, TheLoadAveragesOfAHost) {
    const std::string path = "GET /nova/v2.1/os-hypervisors/h/uptime";
    const auto told = [&](const json& uptime) {
        cloud.on(path, json_reply(200, json{{"hypervisor", {{"uptime", uptime}}}}.dump()));
        return cloud.run(nova().load_averages(HostId{"h"}));
    };
    EXPECT_EQ(*told(" 08:32:11 up 93 days, 18:25, 12 users,  load average: 0.20, 7.92, 10.14\n"),
              (LoadAverages{7.92, 10.14}));
    for (const json& other : {json(nullptr), json(""), json("load average: 1.0, 2.0"),
                              json("load average: 1.0 2.0 3.0"), json("load average: a, b, c"),
                              json("load average: 1, -2, 3"), json("up 3 days")})
        EXPECT_EQ(*told(other), std::nullopt) << other;
    cloud.on(path, json_reply(400, "{}"));
    EXPECT_EQ(*cloud.run(nova().load_averages(HostId{"h"})), std::nullopt) << "it is down";
    cloud.on(path, json_reply(501, "{}"));
    EXPECT_EQ(*cloud.run(nova().load_averages(HostId{"h"})), std::nullopt)
        << "its driver has no such thing";
    cloud.on(path, json_reply(403, "{}"));
    EXPECT_EQ(cloud.run(nova().load_averages(HostId{"h"})).error().code, Errc::forbidden);
}

TEST_F(NovaTest, AFlavorAsItIsNow) {
    json body = recorded_answer("nova-flavor");
    cloud.on("GET /nova/v2.1/flavors/f", json_reply(200, body.dump()));
    body["flavor"].erase("extra_specs");
    cloud.on("GET /nova/v2.1/flavors/old", json_reply(200, body.dump()));
    cloud.on("GET /nova/v2.1/flavors/old/os-extra_specs",
             json_reply(200, R"({"extra_specs": {"a": "b"}})"));
    const Flavor large{"large", 10, 4096, 40, 0, 0, {}};
    EXPECT_EQ(cloud.run(nova().flavor("f"))->value(), large);
    EXPECT_EQ(cloud.run(nova().flavor("old"))->value().extra_specs.at("a"), "b");
    EXPECT_FALSE(cloud.run(nova().flavor("none"))->has_value());
}

TEST(NovaFormat, AnUnconfirmedResizeOfAHostThatNovaKeepsToItselfIsNotKnown) {
    json hidden{{"uuid", "m-1"}, {"status", "finished"}, {"instance_uuid", "s-1"}};
    hidden["source_compute"] = nullptr;
    json shown = hidden;
    shown["uuid"] = "m-2";
    shown["source_compute"] = "host-1";
    json body;
    body["migrations"] = json::array({hidden, shown});
    const auto page = openstack::read_migrations(body.dump(), "GET /os-migrations");
    ASSERT_TRUE(page) << page.error().what;
    ASSERT_EQ(page->resizes.size(), 1U);
    EXPECT_EQ(page->last, "m-2");
}

TEST_F(NovaTest, ListsTheMigrationsOfOneServer) {
    cloud.on("GET /nova/v2.1/os-migrations?instance_uuid=s-1", json_reply(200, R"({"migrations": [
        {"uuid": "m-2", "status": "pre-migrating", "instance_uuid": "s-1"},
        {"uuid": "m-3", "status": "finished", "instance_uuid": "s-2", "source_compute": "c1"},
        {"uuid": "m-1", "status": "error", "instance_uuid": "s-1"}]})"));
    cloud.on("GET /nova/v2.1/os-migrations?instance_uuid=s-2", json_reply(403, "{}"));
    EXPECT_THAT(cloud.run(nova().migrations_of(ServerId("s-1"))).value(),
                ::testing::UnorderedElementsAre(ServerId("m-1"), ServerId("m-2")));
    EXPECT_THAT(cloud.run(nova().migrations_of(ServerId("s-2"))).value(), ::testing::IsEmpty());
}

}  // namespace
}  // namespace reaper::nova_test

// The administrator's endpoint: faults, resets, the witness; and that a seed decides everything.
#include <algorithm>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>

#include "tests/cloudsim/program/settings_file.hpp"
#include "tests/cloudsim/program/snapshot_source.hpp"
#include "tests/cloudsim/tests/box.hpp"

namespace reaper::cloudsim::test::admin_test {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

const std::string servers = "/compute/v2.1/servers";

Settings crowded(std::uint64_t seed) {
    Settings settings;
    settings.hosts = 20;
    settings.fill = 0.9;
    settings.revocable_per_host = 12;
    settings.seed = seed;
    fill_defaults(settings);
    return settings;
}

std::vector<std::string> ids(Box& box) {
    std::vector<std::string> all;
    for (const Server* server : box.world().nova.listed()) all.push_back(server->id.text());
    return all;
}

TEST(CloudsimSeed, DecidesEverything) {
    Box one(crowded(7));
    Box same(crowded(7));
    Box other(crowded(8));
    EXPECT_EQ(ids(one), ids(same));
    EXPECT_NE(ids(one), ids(other));
    EXPECT_EQ(one.provider("host-20"), same.provider("host-20"));
}

TEST(CloudsimSeed, FillsHostsAsAsked) {
    Box box(crowded(7));
    const std::string spot = box.world().identity.project_named("spot")->id;
    for (const auto& host : box.world().nova.hosts) {
        const Room* room = host->provider->room(box.world().names.id("VCPU"));
        EXPECT_EQ(room->used, 57) << host->name;  // 0.9 of 64
        const auto revocable = std::count_if(
            host->servers.begin(), host->servers.end(),
            [&](const Server* server) { return box.world().names.text(server->project) == spot; });
        EXPECT_EQ(revocable, 12) << host->name;
    }
}

TEST(CloudsimSeed, TheBooksAddUp) {
    Box box(crowded(3));
    std::map<std::pair<const Provider*, NameId>, std::int64_t> sums;
    for (const auto& [id, consumer] : box.world().placement.consumers())
        for (const Held& held : consumer->held)
            sums[{held.provider, held.resource_class}] += held.amount;
    for (const Provider* provider : box.world().placement.providers())
        for (const Room& room : provider->rooms) {
            EXPECT_EQ(room.used, (sums[{provider, room.resource_class}]));
            EXPECT_LE(room.used, room.inventory.capacity());
        }
}

TEST(CloudsimReset, ToTheStartBringsTheSameServersBack) {
    Box box(crowded(7));
    const auto before = ids(box);
    for (std::size_t at = 0; at < 5; ++at) box.call("DELETE", servers + "/" + before[at]);
    box.settle();
    EXPECT_EQ(ids(box).size(), before.size() - 5);
    EXPECT_EQ(box.call("POST", "/admin/reset", {{"to", "start"}}).status(), 200);
    EXPECT_EQ(ids(box), before);
    EXPECT_EQ(box.get(servers + "?all_tenants=1&limit=1").status(), 200) << "the token is good";
}

TEST(CloudsimReset, ToEmptyKeepsTheHosts) {
    Box box(crowded(7));
    box.call("POST", "/admin/reset", {{"to", "empty"}});
    EXPECT_EQ(ids(box).size(), 0U);
    EXPECT_EQ(box.world().placement.consumer_count(), 0U);
    EXPECT_EQ(box.world().nova.hosts.size(), 20U);
    box.boot("large", "regular", "host-1");
}

class AdminTest : public ::testing::Test {
protected:
    Box box;
};

TEST_F(AdminTest, FaultsHitByPatternAndCount) {
    box.call("POST", "/admin/faults",
             {{"method", "GET"},
              {"pattern", "/placement/*/usages"},
              {"status", 503},
              {"count", 2},
              {"skip", 1}});
    const std::string usages =
        "/placement/resource_providers/" + box.provider("host-1") + "/usages";
    std::vector<int> got;
    for (int at = 0; at < 4; ++at) got.push_back(box.get(usages).status());
    EXPECT_THAT(got, ::testing::ElementsAre(200, 503, 503, 200));
    EXPECT_EQ(box.get("/placement/resource_providers").status(), 200);
}

TEST_F(AdminTest, CallsTakeAsLongAsTheSettingsSay) {
    box.world().settings.delays.call = 100ms;
    box.world().settings.delays.list = 5s;
    EXPECT_EQ(box.get(servers).response.latency, Micros(5'100'000));
    EXPECT_EQ(box.get(servers + "/detail?all_tenants=1").response.latency, Micros(5'100'000));
    const std::string id = box.boot("small", "spot", "host-1");
    EXPECT_EQ(box.get(servers + "/" + id).response.latency, Micros(100'000));
    EXPECT_EQ(box.get("/placement/resource_providers").response.latency, Micros(100'000));
    box.world().clock.set_speed(10);
    EXPECT_EQ(box.get(servers).response.latency, Micros(510'000));
}

TEST_F(AdminTest, FaultsOfTheWire) {
    box.call("POST", "/admin/faults",
             {{"pattern", "/compute/*"}, {"latency_s", 1.5}, {"count", 1}});
    EXPECT_EQ(box.get(servers).response.latency, Micros(1'500'000));
    box.call("DELETE", "/admin/faults");
    box.call("POST", "/admin/faults", {{"pattern", "/compute/*"}, {"truncate_at", 10}});
    EXPECT_EQ(box.get(servers).response.truncate_at, 10U);
    box.call("DELETE", "/admin/faults");
    const std::string id = box.boot("small", "spot", "host-1");
    box.call("POST", "/admin/faults", {{"method", "DELETE"}, {"drop_after", true}, {"count", 1}});
    EXPECT_TRUE(box.call("DELETE", servers + "/" + id).response.drop);
    box.settle();
    EXPECT_TRUE(box.server(id).is_null()) << "it was done nevertheless";
}

TEST_F(AdminTest, UnknownMembersAreRefused) {
    const Answer answer = box.call("POST", "/admin/faults", {{"patern", "/compute/*"}});
    EXPECT_EQ(answer.status(), 400);
    EXPECT_THAT(answer.body["error"].get<std::string>(), HasSubstr("patern"));
    EXPECT_EQ(box.get("/admin/nothing").status(), 404);
}

TEST_F(AdminTest, TheClockStandsStillByHand) {
    box.call("POST", "/admin/clock", {{"manual", true}});
    const std::string id = box.ask("small").body["server"]["id"];
    box.pass(10s);
    EXPECT_EQ(box.server(id)["status"], "BUILD");
    box.call("POST", "/admin/clock", {{"advance_s", 0.1}});
    box.call("POST", "/admin/clock", {{"advance_s", 1}});
    EXPECT_EQ(box.server(id)["status"], "ACTIVE");
}

TEST_F(AdminTest, TokensLiveAsLongAsItSays) {
    EXPECT_EQ(box.call("POST", "/admin/tokens", {{"life_s", 0}}).status(), 400);
    box.call("POST", "/admin/tokens", {{"life_s", 60}});
    const std::string token = box.token("onlooker", "regular");
    const auto status = [&] { return box.call_as(token, "", "GET", servers).status(); };
    box.pass(59s);
    EXPECT_EQ(status(), 200);
    box.pass(2s);
    EXPECT_EQ(status(), 401);
    box.call("POST", "/admin/tokens");
    const std::string usual = box.token("admin", "regular");
    box.pass(1h);
    EXPECT_EQ(box.call_as(usual, "", "GET", servers).status(), 200);
}

TEST_F(AdminTest, TheClockRunsFaster) {
    box.call("POST", "/admin/clock", {{"speed", 100}});
    const std::string id = box.ask("small").body["server"]["id"];
    box.pass(50ms);
    box.pass(50ms);
    EXPECT_EQ(box.server(id)["status"], "ACTIVE");
}

TEST_F(AdminTest, TheWitnessTellsWhatWasAskedAndWhatWasDone) {
    const std::string id = box.boot("small", "spot", "host-2");
    const std::uint64_t mark = box.get("/admin/state").body["last"];
    box.call("DELETE", servers + "/" + id);
    box.settle();
    const Json log = box.get("/admin/log?since=" + std::to_string(mark)).body;
    ASSERT_EQ(log["entries"].size(), 3U);
    const Json& request = log["entries"][0];
    EXPECT_EQ(request["kind"], "request");
    EXPECT_EQ(request["method"], "DELETE");
    EXPECT_EQ(request["user"], "reaper");
    EXPECT_EQ(request["status"], 204);
    EXPECT_EQ(log["entries"][1]["what"], "deleted");
    EXPECT_EQ(log["entries"][2]["what"], "room freed");
    EXPECT_EQ(log["entries"][2]["server"], id);
    EXPECT_EQ(log["entries"][2]["host"], "host-2");
    EXPECT_EQ(log["next"], log["last"]);
    const Json later = box.get("/admin/log?since=" + log["next"].dump()).body;
    EXPECT_EQ(later["entries"].size(), 0U);
}

TEST(CloudsimWitness, ForgetsTheOldestAndSaysSo) {
    Settings settings = lab_settings();
    settings.log_limit = 5;
    Box box(settings);
    for (int at = 0; at < 10; ++at) box.get(servers);
    const Json log = box.get("/admin/log?since=0").body;
    EXPECT_EQ(log["entries"].size(), 5U);
    EXPECT_EQ(log["lost"], true);
    const std::uint64_t last = log["last"];
    EXPECT_EQ(box.get("/admin/log?since=" + std::to_string(last - 2)).body["entries"].size(), 2U);
}

// Settings ---------------------------------------------------------------------

std::string complaint(const std::string& yaml) {
    Settings settings;
    try {
        read_settings(yaml, "cloud.yaml", settings);
    } catch (const std::runtime_error& wrong) {
        return wrong.what();
    }
    return "";
}

TEST(CloudsimSettings, AreReadFromYaml) {
    Settings settings;
    read_settings(
        "hosts: 5000\nfill: 0.95\nrevocable: 0.3\nseed: 7\ndelays: {delete: 2s, list: 5s}\n"
        "zones: {east: [host-1]}\nflavors: {tiny: {vcpus: 1, memory_mb: 64, disk_gb: 1}}\n",
        "cloud.yaml", settings);
    EXPECT_EQ(settings.hosts, 5000);
    EXPECT_EQ(settings.seed, 7U);
    EXPECT_EQ(settings.delays.erase, 2s);
    EXPECT_EQ(settings.delays.list, 5s);
    EXPECT_EQ(settings.zones["east"], std::vector<std::string>{"host-1"});
    EXPECT_EQ(settings.flavors["tiny"].memory_mb, 64);
}

TEST(CloudsimSettings, TellWhatIsWrong) {
    EXPECT_THAT(complaint("host: 3"), HasSubstr("cloud.yaml.host: must be a map"));
    EXPECT_THAT(complaint("hostz: 3"), HasSubstr("unknown key \"hostz\""));
    EXPECT_THAT(complaint("delays: {sleep: 1s}"), HasSubstr("cloud.yaml.delays"));
    EXPECT_THAT(complaint("fill: 1.5"), HasSubstr("fill"));
    EXPECT_THAT(complaint("delays: {build: soon}"), HasSubstr("no duration"));
    EXPECT_EQ(complaint(""), "");
}

TEST(CloudsimSettings, ACloudThatCantBeIsRefused) {
    Settings settings = lab_settings();
    settings.revocable_per_host = 6;
    Site site(settings, [] { return Time(1s); });
    EXPECT_THAT(site.fill(), HasSubstr("do not fit"));
}

TEST(CloudsimSnapshot, BringsHostsProvidersAndServersWithTheirIds) {
    const std::string path = std::string(REAPER_TEST_DATA) + "/../report/golden/snapshot.json";
    std::ifstream file(path);
    ASSERT_TRUE(file) << path;
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    const Json golden = Json::parse(text);
    Box box(lab_settings(), snapshot_seeder(text, path));
    for (const Json& host : golden["hosts"]) {
        for (const Json& provider : host["providers"]) {
            const std::string at =
                "/placement/resource_providers/" + provider["id"].get<std::string>();
            EXPECT_EQ(box.get(at + "/inventories").body["inventories"], provider["inventories"]);
            const Json usages = box.get(at + "/usages").body["usages"];
            for (const auto& [name, amount] : provider["used"].items())
                EXPECT_EQ(usages[name], amount) << at << " " << name;
        }
        for (const Json& server : host["servers"]) {
            const Json ours = box.server(server["id"]);
            EXPECT_EQ(ours["name"], server["name"]);
            EXPECT_EQ(ours["tenant_id"], server["project"]);
            EXPECT_EQ(ours["OS-EXT-SRV-ATTR:host"], host["service_host"]);
            EXPECT_EQ(ours["locked"], server["locked"]);
            EXPECT_EQ(ours["metadata"], server["metadata"]);
        }
    }
    const Json tagged = box.get("/identity/v3/projects?tags=preemptible").body["projects"];
    EXPECT_EQ(tagged.size(), 2U) << "spot, and the file's own";
}

TEST(CloudsimSnapshot, InvalidTextIsRefused) {
    EXPECT_THROW(snapshot_seeder("{}", "cloud.json"), std::runtime_error);
}

}  // namespace
}  // namespace reaper::cloudsim::test::admin_test

// Nova's and Keystone's manners: versions, pages, rights, refusals.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>

#include "tests/cloudsim/tests/box.hpp"

namespace reaper::cloudsim::test::nova_api_test {
namespace {

using ::testing::HasSubstr;

const std::string servers = "/compute/v2.1/servers";

class NovaApiTest : public ::testing::Test {
protected:
    void fill(int count) {
        for (int at = 0; at < count; ++at) box.ask("small", at % 2 ? "spot" : "regular");
        box.settle();
    }

    Box box;
};

TEST_F(NovaApiTest, PagesFollowTheirMarkersToTheEnd) {
    fill(7);
    std::set<std::string> seen;
    std::string target = servers + "/detail?all_tenants=1&limit=3";
    for (int page = 0; page < 3; ++page) {
        const Json body = box.get(target).body;
        for (const Json& server : body["servers"]) seen.insert(server["id"]);
        EXPECT_EQ(body.contains("servers_links"), page < 2) << page;
        if (page == 2) break;
        const std::string href = body["servers_links"][0]["href"];
        ASSERT_THAT(href, HasSubstr("limit=3"));
        target = href.substr(box.site.root().size());
    }
    EXPECT_EQ(seen.size(), 7U);
}

TEST_F(NovaApiTest, AVanishedMarkerIsABadRequest) {
    fill(2);
    const Answer answer =
        box.get(servers + "/detail?all_tenants=1&marker=11111111-2222-4333-8444-555555555555");
    EXPECT_EQ(answer.status(), 400);
    EXPECT_THAT(answer.body["badRequest"]["message"].get<std::string>(), HasSubstr("marker"));
}

TEST_F(NovaApiTest, NewestComesFirst) {
    const Answer first = box.ask("small");
    box.settle();
    const Answer second = box.ask("small");
    const Json listed = box.get(servers + "?all_tenants=1").body["servers"];
    EXPECT_EQ(listed[0]["id"], second.body["server"]["id"]);
    EXPECT_EQ(listed[1]["id"], first.body["server"]["id"]);
}

TEST_F(NovaApiTest, FiltersOfAdministratorsAreIgnoredForOthers) {
    box.boot("small", "regular", "host-1");
    box.boot("small", "regular", "host-2");
    box.boot("small", "spot", "host-2");
    const std::string query = servers + "/detail?host=host-1";
    EXPECT_EQ(box.get(query + "&all_tenants=1").body["servers"].size(), 1U);
    const Json own = box.call("GET", query, {}, "onlooker", "regular").body["servers"];
    EXPECT_EQ(own.size(), 2U) << "the host is ignored, other projects are not shown";
    EXPECT_FALSE(own[0].contains("OS-EXT-SRV-ATTR:host"));
    const Answer all = box.call("GET", query + "&all_tenants=1", {}, "onlooker", "regular");
    EXPECT_EQ(all.status(), 403);
}

TEST_F(NovaApiTest, ForeignServersAreNotFound) {
    const std::string id = box.boot("small", "spot", "host-1");
    EXPECT_EQ(box.call("GET", servers + "/" + id, {}, "onlooker", "regular").status(), 404);
}

TEST_F(NovaApiTest, FieldsComeWithTheirMicroversions) {
    const std::string id = box.boot("small", "regular", "host-1");
    const std::string token = box.token("reaper", "service");
    auto at = [&](const std::string& version) {
        return box.call_as(token, version, "GET", servers + "/" + id).body["server"];
    };
    EXPECT_TRUE(at("")["flavor"].contains("id")) << "2.1 is the default";
    EXPECT_FALSE(at("").contains("tags"));
    EXPECT_FALSE(at("compute 2.25").contains("tags"));
    EXPECT_TRUE(at("compute 2.26").contains("tags"));
    EXPECT_FALSE(at("compute 2.46")["flavor"].contains("vcpus"));
    EXPECT_TRUE(at("compute 2.47")["flavor"].contains("vcpus"));
    EXPECT_FALSE(at("compute 2.70").contains("server_groups"));
    EXPECT_TRUE(at("compute 2.71").contains("server_groups"));
    EXPECT_TRUE(at("compute latest").contains("locked_reason"));
    const Answer too_new = box.call_as(token, "compute 2.94", "GET", servers);
    EXPECT_EQ(too_new.status(), 406);
    EXPECT_EQ(box.call_as(token, "compute 2.x", "GET", servers).status(), 400);
    const Answer root = box.call_as("", "", "GET", "/compute/v2.1/");
    EXPECT_EQ(root.body["version"]["version"], "2.93");
    EXPECT_EQ(root.body["version"]["min_version"], "2.1");
}

TEST_F(NovaApiTest, RequestsCarryTheIdThatTheMessagesName) {
    for (const char* host : {"host-1", "host-2", "host-3"}) box.boot("large", "spot", host);
    const Answer asked = box.ask("large");
    box.settle();
    const auto told = box.told("compute_task.build_instances.error");
    ASSERT_EQ(told.size(), 1U);
    EXPECT_EQ(told[0]["_context_request_id"], asked.header("x-openstack-request-id"));
    const std::string path = servers + "/" + asked.body["server"]["id"].get<std::string>() +
                             "/os-instance-actions/" + asked.header("x-openstack-request-id");
    EXPECT_EQ(box.get(path).body["instanceAction"]["action"], "create");
}

TEST_F(NovaApiTest, BadRequestsGetTheirStatus) {
    EXPECT_EQ(box.ask("small", "regular", {{"flavorRef", "none"}}).status(), 400);
    EXPECT_EQ(box.ask("small", "regular", {{"imageRef", "none"}}).status(), 400);
    EXPECT_EQ(box.ask("small", "regular", {{"host", "none"}}).status(), 400);
    EXPECT_EQ(box.ask("small", "regular", {{"min_count", 3}, {"max_count", 2}}).status(), 400);
    const std::string id = box.boot("small", "regular", "host-1");
    EXPECT_EQ(box.call("POST", servers + "/" + id + "/action", {{"fly", nullptr}}).status(), 400);
    EXPECT_EQ(box.call("PATCH", servers + "/" + id).status(), 405);
    EXPECT_EQ(box.get("/compute/v2.1/nothing").status(), 404);
    EXPECT_EQ(box.get("/nothing").status(), 404);
}

TEST_F(NovaApiTest, AForcedHostThatIsFullIsRefusedWithoutACandidate) {
    box.boot("large", "spot", "host-1");
    box.ask("small", "regular", {{"availability_zone", "nova:host-1"}});
    box.settle();
    EXPECT_EQ(box.told("compute_task.build_instances.error").size(), 1U);
    EXPECT_EQ(box.ask("small", "regular", {{"availability_zone", "nova:host-2"}}).status(), 202);
}

TEST_F(NovaApiTest, TagsAndMetadataOfServers) {
    const std::string path = servers + "/" + box.boot("small", "regular", "host-1");
    EXPECT_EQ(box.call("PUT", path + "/tags/blue").status(), 201);
    EXPECT_EQ(box.call("PUT", path + "/tags/blue").status(), 204);
    EXPECT_EQ(box.get(path + "/tags").body["tags"], Json::array({"blue"}));
    EXPECT_EQ(box.call("DELETE", path + "/tags/red").status(), 404);
    box.call("POST", path + "/metadata", {{"metadata", {{"res-type", "regular"}}}});
    EXPECT_EQ(box.get(path).body["server"]["metadata"]["res-type"], "regular");
}

TEST_F(NovaApiTest, FlavorsMadeHereCanBeUsed) {
    const Answer made =
        box.call("POST", "/compute/v2.1/flavors",
                 {{"flavor", {{"name", "odd"}, {"vcpus", 3}, {"ram", 512}, {"disk", 1}}}});
    ASSERT_EQ(made.status(), 200);
    const std::string id = made.body["flavor"]["id"];
    box.call("POST", "/compute/v2.1/flavors/" + id + "/os-extra_specs",
             {{"extra_specs", {{"resources:VCPU", "1"}}}});
    const std::string server = box.boot("odd", "regular", "host-1");
    const Json held = box.get("/placement/allocations/" + server).body["allocations"];
    EXPECT_EQ(held[box.provider("host-1")]["resources"]["VCPU"], 1) << "the extra spec counts";
}

// Keystone --------------------------------------------------------------------

TEST_F(NovaApiTest, TokensEnd) {
    const std::string token = box.token("reaper", "service");
    EXPECT_EQ(box.call_as(token, "", "GET", servers).status(), 200);
    box.call("POST", "/admin/clock", {{"advance_s", 25 * 3600}});
    EXPECT_EQ(box.call_as(token, "", "GET", servers).status(), 401);
}

TEST_F(NovaApiTest, ATokenCanRevokeItself) {
    const std::string token = box.token("reaper", "service");
    Request request;
    request.method = "DELETE";
    request.set_target("/identity/v3/auth/tokens");
    request.headers = {{"x-auth-token", token}, {"x-subject-token", token}};
    EXPECT_EQ(box.site.handle(request).status, 204);
    EXPECT_EQ(box.call_as(token, "", "GET", servers).status(), 401);
}

TEST_F(NovaApiTest, AnApplicationCredentialLogsIn) {
    const ApplicationCredential& made = *box.world().identity.credentials.front();
    Json said{{"id", made.id}, {"secret", made.secret}};
    auto log_in = [&] {
        return box.call_as(
            "", "", "POST", "/identity/v3/auth/tokens",
            {{"auth",
              {{"identity",
                {{"methods", {"application_credential"}}, {"application_credential", said}}}}}});
    };
    const Answer good = log_in();
    EXPECT_EQ(good.status(), 201);
    EXPECT_EQ(good.body["token"]["project"]["name"], "service");
    said["secret"] = "wrong";
    EXPECT_EQ(log_in().status(), 401);
}

TEST_F(NovaApiTest, ProjectsAndTheirTags) {
    const Answer made = box.call("POST", "/identity/v3/projects",
                                 {{"project", {{"name", "batch"}, {"domain_id", "default"}}}});
    ASSERT_EQ(made.status(), 201);
    const std::string path =
        "/identity/v3/projects/" + made.body["project"]["id"].get<std::string>();
    EXPECT_EQ(box.call("PUT", path + "/tags/preemptible").status(), 201);
    EXPECT_EQ(box.get("/identity/v3/projects?tags=preemptible").body["projects"].size(), 2U);
    EXPECT_EQ(box.call("DELETE", path + "/tags/preemptible").status(), 204);
    EXPECT_EQ(box.get("/identity/v3/projects?tags=preemptible").body["projects"].size(), 1U);
    EXPECT_EQ(box.call("GET", "/identity/v3/projects", {}, "onlooker", "regular").status(), 403);
}

}  // namespace
}  // namespace reaper::cloudsim::test::nova_api_test

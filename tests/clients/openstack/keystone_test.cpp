#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "clients/openstack/service.hpp"
#include "clients/openstack/service_error.hpp"
#include "tests/clients/openstack/fake_openstack.hpp"

namespace reaper::keystone_test {
namespace {

using nlohmann::json;
using test::FakeOpenStack;
using test::json_reply;
using test::recorded_answer;
using ::testing::HasSubstr;

class KeystoneTest : public ::testing::Test {
protected:
    KeystoneTest() : parts(cloud.connect()) {}
    Identity& keystone() { return *parts.identity; }

    FakeOpenStack cloud;
    OpenStack parts;
};

const std::string tag_path = "GET /v3/projects?tags=preemptible&enabled=true";

TEST_F(KeystoneTest, ReadsRecordedProjectsWithATag) {
    cloud.on(tag_path, json_reply(200, recorded_answer("keystone-projects-preemptible").dump()));
    const auto projects = cloud.run(keystone().projects_with_tag("preemptible"));
    ASSERT_TRUE(projects) << projects.error().what;
    ASSERT_EQ(projects->size(), 1U);
    EXPECT_EQ(projects->front().name, "spot");
    EXPECT_EQ(projects->front().domain, "default");
    EXPECT_TRUE(projects->front().tags.contains("preemptible"));
}

TEST_F(KeystoneTest, AProjectWithoutTheTagIsNotTakenEvenIfItIsListed) {
    json body = recorded_answer("keystone-projects-preemptible");
    body["projects"].push_back(body["projects"][0]);
    body["projects"][1]["tags"] = {"other"};
    body["projects"].push_back(body["projects"][0]);
    body["projects"][2].erase("tags");
    cloud.on(tag_path, json_reply(200, body.dump()));
    EXPECT_EQ(cloud.run(keystone().projects_with_tag("preemptible"))->size(), 1U);
}

/// The purpose of its servers is no longer known: they are left alone.
TEST_F(KeystoneTest, ADisabledProjectIsNotTakenEvenIfItIsListed) {
    json body = recorded_answer("keystone-projects-preemptible");
    body["projects"].push_back(body["projects"][0]);
    body["projects"][0]["enabled"] = false;
    body["projects"][1]["id"] = "1e8a8ca5a6dd4b8bb1f8a6b7a4a2a3f0";
    cloud.on(tag_path, json_reply(200, body.dump()));
    const auto projects = cloud.run(keystone().projects_with_tag("preemptible"));
    ASSERT_TRUE(projects) << projects.error().what;
    ASSERT_EQ(projects->size(), 1U);
    EXPECT_EQ(projects->front().id.str(), "1e8a8ca5a6dd4b8bb1f8a6b7a4a2a3f0");
}

TEST_F(KeystoneTest, APartOfTheListIsAnError) {
    json truncated = recorded_answer("keystone-projects-preemptible");
    truncated["truncated"] = true;
    json paged = recorded_answer("keystone-projects-preemptible");
    paged["links"]["next"] = "http://evil.example/next";
    for (const json& body : {truncated, paged}) {
        cloud.on(tag_path, json_reply(200, body.dump()));
        const auto projects = cloud.run(keystone().projects_with_tag("preemptible"));
        ASSERT_FALSE(projects);
        EXPECT_EQ(projects.error().code, Errc::bad_answer);
        EXPECT_THAT(projects.error().what, HasSubstr("only a part of the list"));
    }
}

TEST_F(KeystoneTest, ATagCannotSmuggleAnotherQueryIn) {
    cloud.on("GET /v3/projects?tags=a%26name%3Db&enabled=true",
             json_reply(200, R"({"projects": []})"));
    EXPECT_TRUE(cloud.run(keystone().projects_with_tag("a&name=b")));
    for (const char* tag : {"", "a,b", "a/b"})
        EXPECT_EQ(cloud.run(keystone().projects_with_tag(tag)).error().code, Errc::bad_input);
}

json project(const std::string& id, const std::string& name) {
    json row = recorded_answer("keystone-projects-preemptible")["projects"][0];
    row["id"] = id;
    row["name"] = name;
    return row;
}

/// The answer to a search by name.
test::Reply projects(const std::vector<json>& rows) {
    return json_reply(200, json{{"projects", rows}}.dump());
}

TEST_F(KeystoneTest, NamesAllProjectsInOneCallAndAPartWillDo) {
    json body{{"projects", {project("p1", "web"), project("p2", "web"), project("p3", "a\nb")}}};
    body["truncated"] = true;
    cloud.on("GET /v3/projects", json_reply(200, body.dump()));
    const auto names = cloud.run(keystone().names_of_projects());
    ASSERT_TRUE(names) << names.error().what;
    const ProjectNames expected{
        {ProjectId{"p1"}, "web"}, {ProjectId{"p2"}, "web"}, {ProjectId{"p3"}, "a\nb"}};
    EXPECT_EQ(*names, expected);
}

TEST_F(KeystoneTest, NamesThatMayNotBeListedAreForbidden) {
    cloud.on("GET /v3/projects", json_reply(403, "{}"));
    EXPECT_EQ(cloud.run(keystone().names_of_projects()).error().code, Errc::forbidden);
}

TEST_F(KeystoneTest, FindsAProjectByIdBeforeName) {
    cloud.on("GET /v3/projects/p1", json_reply(200, json{{"project", project("p1", "n")}}.dump()));
    cloud.on("GET /v3/projects?name=p1", projects({project("p2", "p1")}));
    const auto search = cloud.run(keystone().find_project("p1"));
    ASSERT_TRUE(search) << search.error().what;
    ASSERT_TRUE(search->found);
    EXPECT_EQ(search->found->name, "n") << "a name does not take it over";
}

TEST_F(KeystoneTest, FindsAProjectByName) {
    cloud.on("GET /v3/projects?name=n%201", projects({project("p1", "n 1"), project("p2", "m")}));
    const auto search = cloud.run(keystone().find_project("n 1"));
    ASSERT_TRUE(search) << search.error().what;
    ASSERT_TRUE(search->found);
    EXPECT_EQ(search->found->id.str(), "p1");
}

TEST_F(KeystoneTest, AnIdIsTheSameInUpperCase) {
    const std::string id = "77cbc4a133c240f693fcd6513d02befe";
    cloud.on("GET /v3/projects/" + id,
             json_reply(200, json{{"project", project(id, "spot")}}.dump()));
    for (const char* written :
         {"77CBC4A133C240F693FCD6513D02BEFE", "77cbc4a1-33c2-40f6-93fc-d6513d02befe"}) {
        cloud.on(std::string{"GET /v3/projects?name="} + written, projects({}));
        const auto search = cloud.run(keystone().find_project(written));
        ASSERT_TRUE(search) << search.error().what;
        ASSERT_TRUE(search->found) << written;
        EXPECT_EQ(search->found->id.str(), id);
    }
}

/// Some databases behind Keystone return `spot` for `SPOT`, others do not.
TEST_F(KeystoneTest, ANameInAnotherCaseIsReportedAndNotTaken) {
    cloud.on("GET /v3/projects?name=SPOT", projects({project("p1", "spot")}));
    const auto search = cloud.run(keystone().find_project("SPOT"));
    ASSERT_TRUE(search) << search.error().what;
    EXPECT_FALSE(search->found);
    EXPECT_THAT(search->why_not, HasSubstr("there is 'spot'"));
}

TEST_F(KeystoneTest, ANameInADomainIsFoundByTheDomainsNameOrId) {
    json other = project("p2", "spot");
    other["domain_id"] = "d2";
    cloud.on("GET /v3/projects?name=spot", projects({project("p1", "spot"), other}));
    cloud.on("GET /v3/domains/default",
             json_reply(200, R"({"domain": {"id": "default", "name": "Default"}})"));
    cloud.on("GET /v3/domains/d2", json_reply(200, R"({"domain": {"id": "d2", "name": "Two"}})"));
    for (const auto& [written, id] :
         {std::pair{"Default/spot", "p1"}, {"default/spot", "p1"}, {"Two/spot", "p2"}}) {
        const auto search = cloud.run(keystone().find_project(written));
        ASSERT_TRUE(search) << search.error().what;
        ASSERT_TRUE(search->found) << written << ": " << search->why_not;
        EXPECT_EQ(search->found->id.str(), id);
    }
    const auto several = cloud.run(keystone().find_project("spot"));
    ASSERT_TRUE(several);
    EXPECT_FALSE(several->found);
    EXPECT_THAT(several->why_not, HasSubstr("write DOMAIN/NAME, or the id of one: p1 (domain "
                                            "default), p2 (domain d2)"));
}

TEST_F(KeystoneTest, SaysThatThereIsNoSuchProject) {
    cloud.on("GET /v3/projects?name=none", projects({}));
    const auto search = cloud.run(keystone().find_project("none"));
    ASSERT_TRUE(search) << search.error().what;
    EXPECT_FALSE(search->found);
    EXPECT_THAT(search->why_not, HasSubstr("no project of the id or name 'none'"));
    EXPECT_FALSE(cloud.run(keystone().find_project(""))->found);
}

TEST_F(KeystoneTest, ARefusedSearchIsNotAnEmptyOne) {
    cloud.on("GET /v3/projects?name=n", json_reply(403, "{}"));
    EXPECT_EQ(cloud.run(keystone().find_project("n")).error().code, Errc::forbidden);
}

const std::string token_path = "GET /v3/auth/tokens?nocatalog";

TEST_F(KeystoneTest, SaysWhoseTokenItIs) {
    json body = {
        {"token",
         {{"user", {{"id", "u1"}, {"name", "ops"}, {"domain", {{"id", "d"}, {"name", "Infra"}}}}},
          {"roles", {{{"id", "r1"}, {"name", "admin"}}, {{"id", "r2"}, {"name", "reader"}}}},
          {"system", {{"all", true}}},
          {"issued_at", "2026-11-20T00:00:00.000000Z"},
          {"expires_at", "2026-11-20T01:00:00.000000Z"}}}};
    std::string subject;
    cloud.on(token_path, [&](const test::ServerRequest& request) {
        subject = request.header("x-subject-token");
        return json_reply(200, body.dump());
    });
    const auto owner = cloud.run(keystone().owner_of("theirs"));
    ASSERT_TRUE(owner) << owner.error().what;
    ASSERT_TRUE(owner->has_value());
    EXPECT_EQ(subject, "theirs");
    EXPECT_EQ((*owner)->user, "ops");
    EXPECT_EQ((*owner)->user_domain, "Infra");
    EXPECT_EQ((*owner)->roles, (std::vector<std::string>{"admin", "reader"}));
    EXPECT_EQ((*owner)->expires,
              TimePoint{std::chrono::sys_days{std::chrono::year{2026} / 11 / 20}} +
                  std::chrono::hours{1});
    EXPECT_EQ((*owner)->project, ProjectId{}) << "it is for the system";
    body["token"].erase("system");
    body["token"]["project"] = {{"id", "p1"}, {"name", "web"}};
    const auto scoped = cloud.run(keystone().owner_of("theirs"));
    ASSERT_TRUE(scoped) << scoped.error().what;
    EXPECT_EQ((*scoped)->project, ProjectId{"p1"});
}

TEST_F(KeystoneTest, AnUnknownTokenHasNoOwner) {
    cloud.on(token_path, json_reply(404, R"({"error": {"message": "Could not find token"}})"));
    const auto owner = cloud.run(keystone().owner_of("theirs"));
    ASSERT_TRUE(owner) << owner.error().what;
    EXPECT_FALSE(owner->has_value());
}

TEST_F(KeystoneTest, ItIsNotToldWhoseTokenItIsWithoutTheRight) {
    cloud.on(token_path, json_reply(403, R"({"error": {"message": "not for theirs-to-see"}})"));
    const auto owner = cloud.run(keystone().owner_of("theirs-to-see"));
    ASSERT_FALSE(owner);
    EXPECT_EQ(owner.error().code, Errc::forbidden);
    EXPECT_THAT(owner.error().what, ::testing::Not(HasSubstr("theirs-to-see")));
}

TEST(ServiceMessage, IsFoundInEveryServicesForm) {
    using openstack::service_message;
    EXPECT_EQ(service_message(recorded_answer("nova-delete-404").dump()),
              "Instance 00000000-0000-0000-0000-000000000000 could not be found.");
    EXPECT_EQ(service_message(recorded_answer("keystone-auth-tokens-401").dump()),
              "The request you have made requires authentication.");
    EXPECT_EQ(
        service_message(R"({"errors": [{"title": "T", "detail": "the\n  detail\u001b[0m"}]})"),
        "the detail [0m");
    EXPECT_EQ(service_message(R"({"message": "flat"})"), "flat");
    EXPECT_EQ(service_message("<html><body><h1>504 Gateway</h1>Time-out</body></html>"),
              "504 Gateway Time-out");
    EXPECT_EQ(service_message(""), "");
    EXPECT_EQ(service_message("{}"), "");
    EXPECT_LE(service_message(std::string(10'000, 'x')).size(), 303U);
}

TEST(StatusError, MapsStatusesToKinds) {
    const std::map<int, Errc> kinds{
        {401, Errc::unauthorized}, {403, Errc::forbidden},    {404, Errc::not_found},
        {409, Errc::conflict},     {400, Errc::rejected},     {422, Errc::rejected},
        {429, Errc::server_error}, {500, Errc::server_error}, {503, Errc::server_error},
        {302, Errc::bad_answer},   {206, Errc::bad_answer}};
    for (const auto& [status, kind] : kinds) {
        openstack::Answer answer;
        answer.where = "GET nova /x";
        answer.response.status = status;
        EXPECT_EQ(openstack::status_error(answer, "user u").code, kind) << status;
    }
}

TEST(Service, FindsTheRootThatTellsTheVersions) {
    using openstack::version_root;
    EXPECT_EQ(version_root("http://h:8774/v2.1"), "http://h:8774/v2.1/");
    EXPECT_EQ(version_root("http://h:8774/v2.1/6c3697fe"), "http://h:8774/v2.1/");
    EXPECT_EQ(version_root("http://h/compute/v2.1/6c36"), "http://h/compute/v2.1/");
    EXPECT_EQ(version_root("http://h/placement"), "http://h/placement/");
    EXPECT_EQ(version_root("http://h:8778"), "http://h:8778/");
}

TEST_F(KeystoneTest, ThePasswordExpiresAsTheTokenSays) {
    EXPECT_EQ(cloud.run(keystone().credential_expires()).value(), std::nullopt);
    cloud.token_has = {{"user", {{"password_expires_at", "2026-12-01T10:00:00.000000"}}}};
    ASSERT_TRUE(cloud.run(parts.session->authenticate()));
    const auto told = cloud.run(keystone().credential_expires());
    ASSERT_TRUE(told && *told);
    EXPECT_EQ(**told,
              std::chrono::sys_days(std::chrono::year(2026) / 12 / 1) + std::chrono::hours(10));
}

TEST_F(KeystoneTest, AnApplicationCredentialExpiresAsKeystoneSays) {
    cloud.token_has = {{"application_credential", {{"id", "c1"}, {"name", "reaper"}}}};
    const std::string user = recorded_answer("keystone-auth-tokens")["token"]["user"]["id"];
    const std::string path = "GET /v3/users/" + user + "/application_credentials/c1";
    EXPECT_EQ(cloud.run(keystone().credential_expires()).value(), std::nullopt) << "404";
    cloud.on(path, json_reply(403, R"({"error": {"message": "no", "code": 403}})"));
    EXPECT_EQ(cloud.run(keystone().credential_expires()).value(), std::nullopt);
    const auto answers = [&](const json& expires) {
        cloud.on(
            path,
            json_reply(
                200,
                json{{"application_credential", {{"id", "c1"}, {"expires_at", expires}}}}.dump()));
    };
    answers(nullptr);
    EXPECT_EQ(cloud.run(keystone().credential_expires()).value(), std::nullopt) << "never";
    answers("2026-12-01T10:00:00.000000");
    EXPECT_EQ(cloud.run(keystone().credential_expires()).value(),
              std::chrono::sys_days(std::chrono::year(2026) / 12 / 1) + std::chrono::hours(10));
    cloud.on(path, json_reply(500, "{}"));
    EXPECT_FALSE(cloud.run(keystone().credential_expires()));
}

}  // namespace
}  // namespace reaper::keystone_test

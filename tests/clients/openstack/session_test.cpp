#include <chrono>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/clients/openstack/fake_openstack.hpp"

namespace reaper::session_test {
namespace {

using namespace std::chrono_literals;
using test::FakeOpenStack;
using test::json_reply;
using test::Reply;
using test::ServerRequest;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string no_services = R"({"services": []})";
const std::string services_path = "GET /nova/v2.1/os-services?binary=nova-compute";

class SessionTest : public ::testing::Test {
protected:
    SessionTest() { cloud.on(services_path, json_reply(200, no_services)); }
    FakeOpenStack cloud;
};

TEST_F(SessionTest, TellsWhoWeAre) {
    auto parts = cloud.connect();
    const auto who = cloud.run(parts.session->authenticate());
    ASSERT_TRUE(who) << who.error().what;
    EXPECT_EQ(who->user_name, "admin");
    EXPECT_EQ(who->user_domain, "Default");
    EXPECT_EQ(who->project_name, "admin");
    EXPECT_THAT(who->roles, ElementsAre("admin", "member", "reader"));
    EXPECT_EQ(who->expires, test::cloud_time + 1h);
}

TEST_F(SessionTest, AuthenticatesWithAPasswordForAProject) {
    cloud.cloud.credentials.user_domain_name = "Services";
    cloud.cloud.credentials.project_domain_id = "d1";
    auto parts = cloud.connect();
    ASSERT_TRUE(cloud.run(parts.session->authenticate()));
    const auto sent = nlohmann::json::parse(cloud.server.requests().front().body);
    EXPECT_EQ(sent, nlohmann::json::parse(R"({"auth": {
        "identity": {"methods": ["password"], "password": {"user": {
            "name": "reaper", "domain": {"name": "Services"}, "password": "hunter2-password"}}},
        "scope": {"project": {"name": "service", "domain": {"id": "d1"}}}}})"));
}

TEST_F(SessionTest, AuthenticatesWithAnApplicationCredentialById) {
    auto& credentials = cloud.cloud.credentials;
    credentials = {};
    credentials.auth_url = cloud.server.url() + "/v3/";
    credentials.application_credential_id = "ac-1";
    credentials.application_credential_secret = config::Secret("s");
    auto parts = cloud.connect();
    ASSERT_TRUE(cloud.run(parts.session->authenticate()));
    const auto sent = nlohmann::json::parse(cloud.server.requests().front().body);
    EXPECT_EQ(sent, nlohmann::json::parse(R"({"auth": {"identity": {
        "methods": ["application_credential"],
        "application_credential": {"id": "ac-1", "secret": "s"}}}})"));
}

TEST_F(SessionTest, AuthenticatesWithAnApplicationCredentialByName) {
    auto& credentials = cloud.cloud.credentials;
    credentials.application_credential_name = "reaping";
    credentials.application_credential_secret = config::Secret("s");
    auto parts = cloud.connect();
    ASSERT_TRUE(cloud.run(parts.session->authenticate()));
    const auto sent = nlohmann::json::parse(cloud.server.requests().front().body);
    EXPECT_EQ(sent, nlohmann::json::parse(R"({"auth": {"identity": {
        "methods": ["application_credential"],
        "application_credential": {"name": "reaping", "secret": "s",
            "user": {"name": "reaper", "domain": {"id": "default"}}}}}})"));
}

TEST_F(SessionTest, OneTokenServesManyCalls) {
    auto parts = cloud.connect();
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(cloud.run(parts.compute->compute_services()));
    EXPECT_EQ(cloud.authentications(), 1U);
    EXPECT_EQ(cloud.server.count("GET", "/nova/v2.1/os-services"), 3U);
    EXPECT_EQ(cloud.server.requests().back().header("openstack-api-version"), "compute 2.72");
}

TEST_F(SessionTest, OneServerIsAskedForWithTheNewestVersionThatNovaHas) {
    cloud.on("GET /nova/v2.1/servers/s-1", json_reply(403, "{}"));
    auto parts = cloud.connect();
    (void)cloud.run(parts.compute->server(ServerId{"s-1"}));
    EXPECT_EQ(cloud.server.requests().back().header("openstack-api-version"), "compute 2.93");
    cloud.on("GET /nova/v2.1/",
             json_reply(
                 200, R"({"version": {"id": "v2.1", "version": "2.104", "min_version": "2.1"}})"));
    auto newer = cloud.connect();
    (void)cloud.run(newer.compute->server(ServerId{"s-1"}));
    EXPECT_EQ(cloud.server.requests().back().header("openstack-api-version"), "compute 2.100");
}

TEST_F(SessionTest, RenewsTheTokenBeforeItExpires) {
    auto parts = cloud.connect();
    ASSERT_TRUE(cloud.run(parts.compute->compute_services()));
    cloud.clock.advance(54min);
    ASSERT_TRUE(cloud.run(parts.compute->compute_services()));
    EXPECT_EQ(cloud.authentications(), 1U);
    cloud.clock.advance(1min);
    ASSERT_TRUE(cloud.run(parts.compute->compute_services()));
    EXPECT_EQ(cloud.authentications(), 2U);
    EXPECT_EQ(cloud.server.requests().back().header("x-auth-token"), "secret-token-2");
}

TEST_F(SessionTest, UsesATokenOnWhileKeystoneIsAway) {
    auto parts = cloud.connect();
    ASSERT_TRUE(cloud.run(parts.compute->compute_services()));
    cloud.auth_failure.status = 503;
    cloud.clock.advance(56min);
    ASSERT_TRUE(cloud.run(parts.compute->compute_services()));
    const std::size_t asked = cloud.authentications();
    EXPECT_GT(asked, 1U);
    ASSERT_TRUE(cloud.run(parts.compute->compute_services()));
    EXPECT_EQ(cloud.authentications(), asked) << "asked again at once";
    cloud.auth_failure.status = 200;
    cloud.clock.advance(31s);
    ASSERT_TRUE(cloud.run(parts.compute->compute_services()));
    EXPECT_EQ(cloud.issued, 2);
}

TEST_F(SessionTest, AnExpiredTokenIsNotUsedWhileKeystoneIsAway) {
    auto parts = cloud.connect();
    ASSERT_TRUE(cloud.run(parts.compute->compute_services()));
    cloud.auth_failure.status = 503;
    cloud.clock.advance(61min);
    const auto answer = cloud.run(parts.compute->compute_services());
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, Errc::server_error);
}

TEST_F(SessionTest, CallersAtTheSameTimeShareOneAuthentication) {
    cloud.auth_gate = std::make_shared<test::ExecutorBridge>(cloud.io);
    auto parts = cloud.connect();
    std::vector<std::shared_ptr<test::Started<Result<std::vector<ComputeServiceRecord>>>>> calls;
    for (int i = 0; i < 5; ++i)
        calls.push_back(test::start(cloud.io, parts.compute->compute_services()));
    ASSERT_TRUE(test::run_until(cloud.io, [&] { return cloud.authentications() == 1; }));
    cloud.auth_gate->open();
    for (const auto& call : calls) EXPECT_TRUE(test::finish(cloud.io, call));
    EXPECT_EQ(cloud.authentications(), 1U);
}

TEST_F(SessionTest, CallersAtTheSameTimeShareItsFailureToo) {
    cloud.auth_gate = std::make_shared<test::ExecutorBridge>(cloud.io);
    cloud.auth_failure = json_reply(401, R"({"error": {"message": "no", "code": 401}})");
    cloud.auth_failure.bridge = cloud.auth_gate;
    auto parts = cloud.connect();
    std::vector<std::shared_ptr<test::Started<Result<std::vector<ComputeServiceRecord>>>>> calls;
    for (int i = 0; i < 5; ++i)
        calls.push_back(test::start(cloud.io, parts.compute->compute_services()));
    ASSERT_TRUE(test::run_until(cloud.io, [&] { return cloud.authentications() == 1; }));
    cloud.auth_gate->open();
    for (const auto& call : calls) {
        const auto result = test::finish(cloud.io, call);
        ASSERT_FALSE(result);
        EXPECT_EQ(result.error().code, Errc::unauthorized);
    }
    EXPECT_EQ(cloud.authentications(), 1U);
}

TEST_F(SessionTest, A401IsAnsweredByOneNewTokenAndOneRepeat) {
    auto parts = cloud.connect();
    ASSERT_TRUE(cloud.run(parts.compute->compute_services()));
    cloud.revoke_tokens();
    ASSERT_TRUE(cloud.run(parts.compute->compute_services()));
    EXPECT_EQ(cloud.authentications(), 2U);
    EXPECT_EQ(cloud.server.count("GET", "/nova/v2.1/os-services"), 3U);
}

TEST_F(SessionTest, AWriteThatWasRefusedForItsTokenWasNotHeard) {
    auto parts = cloud.connect();
    ASSERT_TRUE(cloud.run(parts.compute->compute_services()));
    cloud.revoke_tokens();
    std::vector<bool> asked;
    const auto answer = cloud.run(parts.compute->delete_server(
        ServerId{"11111111-2222-4333-8444-555555555555"}, [&](bool may_be_heard) {
            asked.push_back(may_be_heard);
            return !may_be_heard;
        }));
    EXPECT_EQ(asked, (std::vector<bool>{false, false}));
    EXPECT_TRUE(answer) << "sent again with the new token";
}

TEST_F(SessionTest, ASecond401IsAnError) {
    cloud.first_good_token = 1000;
    auto parts = cloud.connect();
    const auto answer = cloud.run(parts.compute->compute_services());
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, Errc::bad_token) << "Keystone did not refuse us";
    EXPECT_THAT(answer.error().what, HasSubstr("even with a new token"));
    EXPECT_EQ(cloud.authentications(), 2U);
}

TEST_F(SessionTest, RefusedCredentialsAreExplainedWithoutTheSecret) {
    cloud.auth_failure = json_reply(
        401, R"({"error": {"message": "sent hunter2-password, which is wrong", "code": 401}})");
    auto parts = cloud.connect();
    const auto who = cloud.run(parts.session->authenticate());
    ASSERT_FALSE(who);
    EXPECT_EQ(who.error().code, Errc::unauthorized);
    EXPECT_THAT(
        who.error().what,
        AllOf(HasSubstr("refused the credentials of user reaper (domain default) (401)"),
              HasSubstr("check name, domain and password"), Not(HasSubstr("hunter2-password"))));
}

/// A service that keeps trying a wrong password has its account locked.
TEST_F(SessionTest, RefusedCredentialsAreNotSentAgainForAWhile) {
    cloud.auth_failure = json_reply(401, R"({"error": {"message": "no", "code": 401}})");
    auto parts = cloud.connect();
    const auto tries_within = [&](Duration time) {
        const auto before = cloud.authentications();
        for (Duration passed{0}; passed < time; passed += 5s) {
            const auto refused = cloud.run(parts.compute->compute_services());
            EXPECT_EQ(refused.error().code, Errc::unauthorized);
            cloud.clock.advance(5s);
        }
        return cloud.authentications() - before;
    };
    EXPECT_EQ(tries_within(55s), 1U);
    EXPECT_EQ(tries_within(9min), 1U);
    EXPECT_EQ(tries_within(1h), 1U);
    EXPECT_EQ(tries_within(1h), 1U);
    cloud.auth_failure = Reply{};
    cloud.clock.advance(1h);
    EXPECT_TRUE(cloud.run(parts.compute->compute_services())) << "until it is fixed";
}

TEST_F(SessionTest, AWrongAddressOfKeystoneIsNamed) {
    cloud.auth_failure = json_reply(404, "<html><h1>Not Found</h1></html>");
    auto parts = cloud.connect();
    const auto who = cloud.run(parts.session->authenticate());
    ASSERT_FALSE(who);
    EXPECT_THAT(who.error().what,
                AllOf(HasSubstr("/v3/auth/tokens: 404: Not Found"),
                      HasSubstr("is cloud.auth.auth_url the address of Keystone?")));
}

TEST_F(SessionTest, SettingsThatCannotWorkAreRefusedBeforeAnyCall) {
    const auto refused = [&](const config::Cloud& settings) {
        const auto parts = connect_openstack(cloud.io.get_executor(), settings, {}, cloud.clock);
        return parts ? std::string("accepted") : parts.error().what;
    };
    config::Cloud settings = cloud.cloud;
    settings.credentials.password = config::Secret();
    EXPECT_THAT(refused(settings), HasSubstr("password is not set"));
    settings = cloud.cloud;
    settings.credentials.project_name.clear();
    EXPECT_THAT(refused(settings), HasSubstr("project_name or project_id is not set"));
    settings = cloud.cloud;
    settings.credentials.username.clear();
    EXPECT_THAT(refused(settings), HasSubstr("username or user_id is not set"));
    settings = cloud.cloud;
    settings.credentials.auth_url = "keystone:5000";
    EXPECT_THAT(refused(settings), HasSubstr("cloud.auth.auth_url"));
    settings.credentials.auth_url = "http://keystone:5000/v2.0";
    EXPECT_THAT(refused(settings), HasSubstr("end it with /v3"));
    EXPECT_TRUE(cloud.server.requests().empty());
}

TEST_F(SessionTest, AnOverrideReplacesTheCatalog) {
    cloud.catalog = nlohmann::json::array();
    cloud.cloud.endpoint_overrides["compute"] = cloud.server.url() + "/nova/v2.1/";
    auto parts = cloud.connect();
    EXPECT_TRUE(cloud.run(parts.compute->compute_services()));
    const auto providers = cloud.run(parts.placement->providers());
    ASSERT_FALSE(providers);
    EXPECT_THAT(providers.error().what, HasSubstr("set cloud.endpoints.placement"));
}

TEST_F(SessionTest, TellsEndpointsAndVersions) {
    cloud.on("GET /v3", json_reply(200, R"({"version": {"id": "v3.14"}})"));
    auto parts = cloud.connect();
    const auto compute = cloud.run(parts.session->endpoint(CloudService::compute));
    ASSERT_TRUE(compute) << compute.error().what;
    EXPECT_EQ(compute->url, cloud.server.url() + "/nova/v2.1");
    EXPECT_EQ(compute->version, "2.72");
    EXPECT_EQ(compute->service_version, "2.93");
    const auto placement = cloud.run(parts.session->endpoint(CloudService::placement));
    ASSERT_TRUE(placement) << placement.error().what;
    EXPECT_EQ(placement->version, "1.39");
    const auto identity = cloud.run(parts.session->endpoint(CloudService::identity));
    ASSERT_TRUE(identity) << identity.error().what;
    EXPECT_EQ(identity->service_version, "3.14");
}

TEST_F(SessionTest, AnOldServiceIsRefusedWithItsVersions) {
    cloud.on("GET /nova/v2.1/", json_reply(200, R"({"version": {"version": "2.42",
                                                    "min_version": "2.1"}})"));
    auto parts = cloud.connect();
    const auto answer = cloud.run(parts.compute->compute_services());
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, Errc::rejected);
    EXPECT_THAT(answer.error().what, HasSubstr("speaks API versions 2.1 to 2.42, the reaper 2.53 "
                                               "to 2.72: it is too old, Pike or later is needed"));
}

TEST_F(SessionTest, AgreesAgainAfterAServiceWasReplaced) {
    auto parts = cloud.connect();
    ASSERT_TRUE(cloud.run(parts.compute->compute_services()));
    cloud.on("GET /nova/v2.1/", json_reply(200, R"({"version": {"version": "2.60",
                                                    "min_version": "2.1"}})"));
    cloud.on(services_path, [](const ServerRequest& request) {
        return request.header("openstack-api-version") == "compute 2.60"
                   ? json_reply(200, no_services)
                   : json_reply(406, R"({"computeFault": {"message": "Version 2.72 is too new"}})");
    });
    EXPECT_FALSE(cloud.run(parts.compute->compute_services()));
    EXPECT_TRUE(cloud.run(parts.compute->compute_services()));
}

TEST_F(SessionTest, AMissingRightIsNamedAsTheServiceNamesIt) {
    Reply reply = json_reply(403, R"({"forbidden": {"code": 403, "message":
        "Policy doesn't allow os_compute_api:os-services:list to be performed."}})");
    reply.headers.emplace_back("X-Compute-Request-Id", "req-9");
    cloud.on(services_path, reply);
    auto parts = cloud.connect();
    const auto answer = cloud.run(parts.compute->compute_services());
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, Errc::forbidden);
    EXPECT_THAT(
        answer.error().what,
        AllOf(HasSubstr("GET nova " + cloud.server.url() + "/nova/v2.1/os-services"),
              HasSubstr("403: Policy doesn't allow os_compute_api:os-services:list"),
              HasSubstr("give user admin on project admin the role"), HasSubstr("(req-9)")));
}

TEST_F(SessionTest, NoSecretIsLoggedOrInAnError) {
    test::LogCapture log;
    cloud.on(services_path, [](const ServerRequest& request) {
        // A service that echoes what it got.
        return json_reply(500, R"({"computeFault": {"message": "token )" +
                                   request.header("x-auth-token") + R"( made me fail"}})");
    });
    cloud.http.max_retries = 1;
    auto parts = cloud.connect();
    const auto failed = cloud.run(parts.compute->compute_services());
    ASSERT_FALSE(failed);
    cloud.revoke_tokens();
    cloud.auth_failure = json_reply(401, R"({"error": {"message": "not hunter2-password"}})");
    const auto refused = cloud.run(parts.compute->compute_services());
    ASSERT_FALSE(refused);
    EXPECT_THAT(log.text(), HasSubstr("/v3/auth/tokens 201"));
    for (const std::string& text : {log.text(), failed.error().what, refused.error().what}) {
        EXPECT_THAT(text, Not(HasSubstr("hunter2")));
        EXPECT_THAT(text, Not(HasSubstr("secret-token")));
    }
}

TEST_F(SessionTest, PartsMayGoWhileTheirCallsAreUnderWay) {
    cloud.auth_gate = std::make_shared<test::ExecutorBridge>(cloud.io);
    auto parts = std::make_unique<OpenStack>(cloud.connect());
    const auto call = test::start(cloud.io, parts->compute->compute_services());
    const auto other = test::start(cloud.io, parts->session->authenticate());
    parts.reset();
    ASSERT_TRUE(test::run_until(cloud.io, [&] { return cloud.authentications() == 1; }));
    cloud.auth_gate->open();
    EXPECT_TRUE(test::finish(cloud.io, call));
    EXPECT_TRUE(test::finish(cloud.io, other));
}

}  // namespace
}  // namespace reaper::session_test

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/config/world.hpp"

namespace reaper::config::test::clouds_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::string broker = "broker: {urls: ['amqp://a:b@c/']}\n";

const std::string taggers = "taggers: [project]\n";

std::string cloud(const std::string& lines) {
    return broker + "cloud:\n" + lines + taggers;  // the lines from 3 on
}

const std::string clouds_yaml = R"(
clouds:
  mine:
    auth:
      auth_url: https://keystone.example:5000/v3
      username: nova-admin
      project_name: admin
      user_domain_name: Users
    region_name: North
    interface: internal
    verify: false
  app:
    auth_type: v3applicationcredential
    auth:
      auth_url: https://keystone.example:5000/v3
      application_credential_id: abc
      application_credential_secret: s3cret
  token:
    auth_type: v3token
    auth: {auth_url: 'https://k/', token: t}
)";

World world_with_clouds(const std::string& where = "/etc/openstack/clouds.yaml") {
    World world;
    world.files[where] = {clouds_yaml, false};
    world.files["/etc/openstack/secure.yaml"] = {
        "clouds: {mine: {auth: {password: from-secure}}}\n", false};
    return world;
}

TEST(CloudsYaml, GivesCredentialsWithSecureYamlLaidOver) {
    World world = world_with_clouds();
    const Settings settings = world.good(cloud("  name: mine\n"));
    const Credentials& credentials = settings.cloud.credentials;
    EXPECT_EQ(credentials.auth_url, "https://keystone.example:5000/v3");
    EXPECT_EQ(credentials.username, "nova-admin");
    EXPECT_EQ(credentials.password.reveal(), "from-secure");
    EXPECT_EQ(credentials.user_domain_name, "Users");
    EXPECT_TRUE(credentials.user_domain_id.empty());
    EXPECT_EQ(credentials.project_domain_id, "default");
    EXPECT_EQ(settings.cloud.region, "North");
    EXPECT_EQ(settings.cloud.interface, "internal");
    EXPECT_FALSE(settings.cloud.verify_tls);
    EXPECT_FALSE(credentials.uses_application_credential());
}

TEST(CloudsYaml, WhatTheFileSaysWins) {
    World world = world_with_clouds();
    const Settings settings = world.good(
        cloud("  name: mine\n  region: South\n  interface: admin\n  verify_tls: true\n"));
    EXPECT_EQ(settings.cloud.region, "South");
    EXPECT_EQ(settings.cloud.interface, "admin");
    EXPECT_TRUE(settings.cloud.verify_tls);
}

TEST(CloudsYaml, GivesAnApplicationCredential) {
    World world = world_with_clouds();
    const auto credentials = world.good(cloud("  name: app\n")).cloud.credentials;
    EXPECT_TRUE(credentials.uses_application_credential());
    EXPECT_EQ(credentials.application_credential_secret.reveal(), "s3cret");
}

TEST(CloudsYaml, IsSearchedInOrder) {
    World world = world_with_clouds();
    const auto file_with_user = [](const std::string& user) {
        return FileText{"clouds: {mine: {auth: {auth_url: 'https://k/', username: " + user +
                            ", password: p, project_id: p}}}\n",
                        false};
    };
    const auto user = [&] {
        return world.good(cloud("  name: mine\n")).cloud.credentials.username;
    };
    EXPECT_EQ(user(), "nova-admin");
    world.variables["HOME"] = "/home/op";
    world.files["/home/op/.config/openstack/clouds.yaml"] = file_with_user("home");
    EXPECT_EQ(user(), "home");
    world.files["./clouds.yaml"] = file_with_user("here");
    EXPECT_EQ(user(), "here");
    world.variables["OS_CLIENT_CONFIG_FILE"] = "/srv/c.yaml";
    world.files["/srv/c.yaml"] = file_with_user("variable");
    EXPECT_EQ(user(), "variable");
    world.files["/srv/mine.yaml"] = file_with_user("named");
    const Settings named = world.good(cloud("  name: mine\n  clouds_file: /srv/mine.yaml\n"));
    EXPECT_EQ(named.cloud.credentials.username, "named");
}

TEST(CloudsYaml, MistakesNameTheFileAndTheLine) {
    World world = world_with_clouds();
    EXPECT_THAT(world.errors(cloud("  name: other\n")),
                ElementsAre("reaper.yaml:3: cloud.name: no cloud \"other\" in "
                            "/etc/openstack/clouds.yaml; expected one of mine, app, token"));
    EXPECT_THAT(world.errors(cloud("  name: token\n")),
                testing::Contains(HasSubstr("/etc/openstack/clouds.yaml:19: "
                                            "clouds.token.auth_type: is \"v3token\"")));
    world.files.erase("/etc/openstack/secure.yaml");
    EXPECT_THAT(world.errors(cloud("  name: mine\n")),
                ElementsAre("/etc/openstack/clouds.yaml:5: clouds.mine: has no password; expected "
                            "password, password_file or password_env"));
    world.files.clear();
    EXPECT_THAT(world.errors(cloud("  name: mine\n")),
                ElementsAre(HasSubstr("reaper.yaml:3: cloud.name: no clouds.yaml found")));
    world.files["/etc/openstack/clouds.yaml"] = {"clouds: [", false};
    EXPECT_THAT(world.errors(cloud("  name: mine\n")),
                ElementsAre(HasSubstr("/etc/openstack/clouds.yaml")));
}

TEST(CloudsYaml, ASecretThatEveryoneCanReadIsAWarning) {
    World world = world_with_clouds();
    world.files["/etc/openstack/secure.yaml"].others_can_read = true;
    world.good(cloud("  name: mine\n  verify_tls: true\n"));
    EXPECT_THAT(world.warning_lines(), ElementsAre(HasSubstr("/etc/openstack/secure.yaml")));
}

TEST(CloudsYaml, MergeKeysAndOtherSpellingsAreReadAsOpenStacksToolsReadThem) {
    World world;
    world.files["/etc/openstack/clouds.yaml"] = {R"(
common: &common
  region-name: North
  interface: internal
  auth: &login {auth_url: 'https://k/v3', username: op, project_name: admin}
later: &later {interface: admin, cacert: '~/ca.pem'}
clouds:
  mine:
    <<: [*common, *later]
    auth:
      <<: *login
      username: mine
    password: beside
  regions:
    <<: *common
    password: p
    regions: [{name: One, values: {interface: public}}, Two]
)",
                                                 false};
    world.variables["HOME"] = "/home/op";
    world.files["/home/op/ca.pem"] = {"pem", false};
    Settings settings = world.good(cloud("  name: mine\n"));
    EXPECT_EQ(settings.cloud.region, "North");
    EXPECT_EQ(settings.cloud.interface, "internal");
    EXPECT_EQ(settings.cloud.ca_file, "/home/op/ca.pem");
    EXPECT_EQ(settings.cloud.credentials.username, "mine");
    EXPECT_EQ(settings.cloud.credentials.auth_url, "https://k/v3");
    EXPECT_EQ(settings.cloud.credentials.password.reveal(), "beside");
    settings = world.good(cloud("  name: regions\n"));
    EXPECT_EQ(settings.cloud.region, "One");
    EXPECT_EQ(settings.cloud.interface, "public");
}

TEST(CloudsYaml, WhatIsNotReadIsRefusedByName) {
    for (const std::string line :
         {"profile: rackspace", "identity_api_version: '2.0'", "compute_interface: public",
          "placement_region_name: South", "region_name: [a]", "auth_plugin: password"}) {
        World world;
        world.files["/etc/openstack/clouds.yaml"] = {
            "clouds:\n  mine:\n    interface: internal\n    auth: {auth_url: 'https://k/', "
            "username: u, password: p, project_name: p}\n    " +
                line + "\n",
            false};
        EXPECT_THAT(world.errors(cloud("  name: mine\n")),
                    ElementsAre(HasSubstr("/etc/openstack/clouds.yaml:5: clouds.mine." +
                                          line.substr(0, line.find(':')))))
            << line;
    }
    World world;
    world.files["/etc/openstack/clouds.yaml"] = {
        "clouds: {mine: {auth: {auth_url: 'https://k/', username: u, password: p, project_name: p, "
        "system_scope: all}, compute_interface: internal, interface: internal}}\n",
        false};
    EXPECT_THAT(world.errors(cloud("  name: mine\n")),
                ElementsAre(HasSubstr("clouds.mine.auth.system_scope: is not read")));
}

World world_with_variables() {
    World world;
    world.variables = {{"OS_AUTH_URL", "https://k:5000/v3"},
                       {"OS_USERNAME", "admin"},
                       {"OS_PASSWORD", "pw"},
                       {"OS_PROJECT_NAME", "admin"},
                       {"OS_USER_DOMAIN_NAME", "Default"},
                       {"OS_PROJECT_DOMAIN_NAME", "Default"},
                       {"OS_REGION_NAME", "R"},
                       {"OS_ENDPOINT_TYPE", "internalURL"}};
    return world;
}

TEST(Variables, GiveCredentials) {
    World world = world_with_variables();
    const Settings settings = world.good(cloud("  from_environment: true\n"));
    EXPECT_EQ(settings.cloud.credentials.username, "admin");
    EXPECT_EQ(settings.cloud.credentials.password.reveal(), "pw");
    EXPECT_EQ(settings.cloud.credentials.user_domain_name, "Default");
    EXPECT_EQ(settings.cloud.region, "R");
    EXPECT_EQ(settings.cloud.interface, "internal");
}

TEST(Variables, GiveAnApplicationCredential) {
    World world;
    world.variables = {{"OS_AUTH_URL", "https://k:5000/v3"},
                       {"OS_AUTH_TYPE", "v3applicationcredential"},
                       {"OS_PASSWORD", "left over"},
                       {"OS_APPLICATION_CREDENTIAL_ID", "id"},
                       {"OS_APPLICATION_CREDENTIAL_SECRET", "secret"}};
    const auto credentials = world.good(cloud("  from_environment: true\n")).cloud.credentials;
    EXPECT_EQ(credentials.application_credential_id, "id");
    EXPECT_TRUE(credentials.password.empty());
}

TEST(Variables, OsCloudNamesACloud) {
    World world = world_with_clouds();
    world.variables["OS_CLOUD"] = "mine";
    world.variables["OS_PASSWORD"] = "not this one";
    world.variables["OS_PROJECT_DOMAIN_NAME"] = "Filled";
    const auto credentials = world.good(cloud("  from_environment: true\n")).cloud.credentials;
    EXPECT_EQ(credentials.password.reveal(), "from-secure");
    EXPECT_EQ(credentials.project_domain_name, "Filled");
    world.variables["OS_CLOUD"] = "gone";
    EXPECT_THAT(world.errors(cloud("  from_environment: true\n")),
                ElementsAre(HasSubstr("environment: OS_CLOUD: no cloud \"gone\"")));
}

TEST(Variables, MissingOnesAreErrors) {
    World world = world_with_variables();
    world.variables.erase("OS_PASSWORD");
    EXPECT_THAT(world.errors(cloud("  from_environment: true\n")),
                ElementsAre(HasSubstr("environment: OS_*: has no password")));
}

TEST(Credentials, HaveOneSource) {
    World world = world_with_clouds();
    EXPECT_THAT(world.errors(broker + taggers),
                ElementsAre(HasSubstr("cloud: has no credentials")));
    EXPECT_THAT(world.errors(cloud("  region: x\n")),
                ElementsAre("reaper.yaml:2: cloud: has no credentials; expected one of name (of "
                            "clouds.yaml), auth, from_environment: true"));
    EXPECT_THAT(
        world.errors(cloud("  name: mine\n  from_environment: true\n")),
        ElementsAre("reaper.yaml:4: cloud.from_environment: given with cloud.name; expected only "
                    "one of name, auth, from_environment"));
    EXPECT_THAT(world.errors(cloud("  name: mine\n  from_environment: false\n")), IsEmpty());
}

TEST(Credentials, InlineOnesAreCompleteAndOfOneKind) {
    World world;
    const auto inline_errors = [&](const std::string& entries) {
        return world.errors(cloud("  auth: {auth_url: 'https://k/', " + entries + "}\n"));
    };
    EXPECT_THAT(inline_errors("username: u, password: p, project_id: p"), IsEmpty());
    EXPECT_THAT(inline_errors("application_credential_id: i, application_credential_secret: s"),
                IsEmpty());
    EXPECT_THAT(inline_errors("username: u, password: p"),
                ElementsAre(HasSubstr("reaper.yaml:3: cloud.auth: has no project")));
    EXPECT_THAT(inline_errors("password: p, project_id: p"), ElementsAre(HasSubstr("has no user")));
    EXPECT_THAT(inline_errors("application_credential_id: i"),
                ElementsAre(HasSubstr("has no application_credential_secret")));
    EXPECT_THAT(inline_errors("application_credential_id: i, application_credential_secret: s, "
                              "password: p"),
                ElementsAre(HasSubstr("has both a password and an application credential")));
    EXPECT_THAT(inline_errors("application_credential_name: i, application_credential_secret: s"),
                ElementsAre(HasSubstr("without its user")));
}

TEST(Endpoints, AreUrlsWithoutUsers) {
    World world;
    const std::string auth =
        "  auth: {auth_url: 'https://k/', user_id: u, password: p, "
        "project_id: p}\n";
    const Settings settings =
        world.good(cloud(auth + "  endpoints: {compute: 'http://[::1]:8774/v2.1'}\n"));
    EXPECT_EQ(settings.cloud.endpoint_overrides.size(), 1U);
    EXPECT_EQ(settings.cloud.endpoint_overrides.at("compute"), "http://[::1]:8774/v2.1");
    EXPECT_THAT(world.errors(cloud(auth + "  endpoints: {compute: 'ftp://x/'}\n")),
                ElementsAre(HasSubstr("reaper.yaml:4: cloud.endpoints.compute: has another "
                                      "scheme")));
    EXPECT_THAT(world.errors(cloud(auth + "  endpoints: {compute: 'http://u:p@x/'}\n")),
                ElementsAre(HasSubstr("carries user information")));
}

}  // namespace
}  // namespace reaper::config::test::clouds_test

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
          "placement_region_name: South", "region_name: {a: b}", "auth_plugin: v3token"}) {
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

// ---- profiles ----

const std::string profiles_yaml = R"(
public-clouds:
  house:
    auth: {auth_url: 'https://{region_name}.example:5000/v3', user_domain_name: House}
    interface: internal
    regions: [{name: north, values: {compute_endpoint_override: 'https://{region_name}/nova'}}]
)";

/// One cloud with a password and these lines.
World world_with_cloud(const std::string& lines) {
    World world;
    world.files["/etc/openstack/clouds.yaml"] = {
        "clouds:\n  mine:\n    auth: {username: u, password: p, project_name: p}\n" + lines, false};
    return world;
}

TEST(Profiles, LieBelowWhatTheCloudSays) {
    for (const char* const key : {"profile", "cloud"}) {
        World world = world_with_cloud(std::string{"    "} + key + ": house\n");
        world.files["/etc/openstack/clouds-public.yaml"] = {profiles_yaml, false};
        const Cloud read = world.good(cloud("  name: mine\n")).cloud;
        EXPECT_EQ(read.credentials.auth_url, "https://north.example:5000/v3") << key;
        EXPECT_EQ(read.credentials.user_domain_name, "House");
        EXPECT_EQ(read.credentials.username, "u");
        EXPECT_EQ(read.region, "north");
        EXPECT_EQ(read.interface, "internal");
        EXPECT_EQ(read.endpoint_overrides.at("compute"), "https://north/nova");
    }
    World world = world_with_cloud(
        "    profile: house\n    region_name: south\n    interface: public\n"
        "    user_domain_name: Mine\n");
    world.files["/etc/openstack/clouds-public.yml"] = {profiles_yaml, false};
    const Cloud read = world.good(cloud("  name: mine\n")).cloud;
    EXPECT_EQ(read.credentials.auth_url, "https://south.example:5000/v3");
    EXPECT_EQ(read.region, "south");
    EXPECT_EQ(read.interface, "public");
    EXPECT_TRUE(read.endpoint_overrides.empty()) << "the region is the cloud's own";
}

TEST(Profiles, UnknownOnesAreReportedWithTheKnownOnes) {
    World world = world_with_cloud("    profile: vexxhost\n");
    const std::string at = "/etc/openstack/clouds.yaml:4: clouds.mine.profile: is \"vexxhost\"";
    EXPECT_THAT(world.errors(cloud("  name: mine\n")),
                testing::Contains(HasSubstr(at + ", which is in no public-clouds of "
                                                 "clouds-public.yaml")));
    world.files["./clouds-public.json"] = {
        R"({"public-clouds": {"house": {"auth": {"auth_url": "https://k/"}}}})", false};
    EXPECT_THAT(world.errors(cloud("  name: mine\n")),
                testing::Contains(testing::AllOf(HasSubstr(at), HasSubstr("one of house"))));
    world.files["./clouds-public.json"] = {"{", false};
    EXPECT_THAT(world.errors(cloud("  name: mine\n")),
                testing::Contains(HasSubstr("./clouds-public.json")));
}

TEST(CloudsYaml, RegionsAreChosenAsOpenStacksToolsChooseThem) {
    const std::string url = "    auth_url: 'https://k/'\n";
    const auto region = [&](const std::string& lines) {
        World world = world_with_cloud(url + lines);
        return world.good(cloud("  name: mine\n")).cloud.region;
    };
    EXPECT_EQ(region("    region_name: a,b\n"), "a");
    EXPECT_EQ(region("    region_name: [a, b]\n"), "a");
    EXPECT_EQ(region("    region_name: a\n    regions: [b]\n"), "b");
    EXPECT_EQ(region("    regions: []\n    region_name: a\n"), "a");
    World world = world_with_cloud(url + "    regions: [{values: {}}]\n");
    EXPECT_THAT(world.errors(cloud("  name: mine\n")),
                ElementsAre(HasSubstr("clouds.mine.regions[0]: has no name")));
}

TEST(CloudsYaml, SecureYamlMayHaveAllThatACloudHas) {
    World world = world_with_cloud("    auth_url: 'https://k/'\n    interface: public\n");
    world.variables["OS_CLIENT_SECURE_FILE"] = "/srv/secure.json";
    world.files["/srv/secure.json"] = {
        R"({"clouds": {"mine": {"interface": "admin", "auth": {"password": "better"}}}})", false};
    const Cloud read = world.good(cloud("  name: mine\n")).cloud;
    EXPECT_EQ(read.interface, "admin");
    EXPECT_EQ(read.credentials.password.reveal(), "better");
}

TEST(CloudsYaml, OneDomainMayStandForBoth) {
    World world = world_with_cloud("    auth_url: 'https://k/'\n    domain_id: d\n");
    const Credentials both = world.good(cloud("  name: mine\n")).cloud.credentials;
    EXPECT_EQ(both.user_domain_id, "d");
    EXPECT_EQ(both.project_domain_id, "d");
    World named = world_with_cloud(
        "    auth_url: 'https://k/'\n    domain_name: D\n    user_domain_name: Users\n");
    const Credentials mixed = named.good(cloud("  name: mine\n")).cloud.credentials;
    EXPECT_EQ(mixed.user_domain_name, "Users");
    EXPECT_EQ(mixed.project_domain_name, "D");
}

TEST(CloudsYaml, WhatABraceNamesMustBeThere) {
    World world = world_with_cloud("    auth_url: 'https://{zone}.example/'\n");
    EXPECT_THAT(world.errors(cloud("  name: mine\n")),
                testing::Contains(HasSubstr("clouds.mine.auth_url: names \"{zone}\"")));
}

// ---- every key that OpenStack's tools know ----

/// What becomes of a key with that value: `read` or idle (not reported), reported, or refused.
std::string fate_of(const std::string& line) {
    World world = world_with_cloud("    auth_url: 'https://k/'\n    " + line + "\n");
    world.files["pem"] = {"pem", false};
    const std::string key = "clouds.mine." + line.substr(0, line.find(':'));
    const auto errors = world.errors(cloud("  name: mine\n"));
    for (const std::string& error : errors)
        if (error.find(key) == std::string::npos) return "other: " + error;
    if (!errors.empty()) return "refused";
    const auto warnings = world.warning_lines();
    for (const std::string& warning : warnings)
        if (warning.find(key) != std::string::npos) return "told";
    return "taken";
}

TEST(CloudsYaml, EveryKeyOfOpenStacksToolsIsTakenToldOrRefused) {
    // openstacksdk: schema.json, vendor-schema.json, defaults.json, loader.py, cloud_region.py.
    const std::vector<std::pair<const char*, std::vector<std::string>>> keys{
        {"taken",
         {"auth_type: password",
          "auth-type: v3password",
          "auth_plugin: password",
          "interface: internal",
          "endpoint_type: internalURL",
          "region_name: R",
          "regions: [R]",
          "verify: false",
          "insecure: true",
          "cacert: pem",
          "user_domain_id: d",
          "project_domain_name: D",
          "default_domain: d",
          "tenant_name: t",
          "domain_id: d",
          "identity_api_version: '3'",
          "compute_endpoint_override: 'https://k/'",
          "placement_endpoint: 'https://k/'",
          "compute_service_type: compute",
          "api_timeout: 10",
          "timeout: 10",
          "compute_timeout: 10",
          "timing: true",
          "floating_ip_source: neutron",
          "requires_floating_ip: true",
          "networks: [{name: n}]",
          "external_network: n",
          "internal_network: n",
          "secgroup_source: neutron",
          "image_api_use_tasks: false",
          "image_format: qcow2",
          "disable_vendor_agent: {vm_mode: hvm}",
          "vendor_hook: a:b",
          "message: text",
          "status: active",
          "metrics: {statsd: {host: h}}",
          "baremetal_api_version: '1'",
          "compute_api_version: '2.1'",
          "volume_api_version: '3'",
          "compute_default_microversion: '2.60'",
          "default_microversion: '2.60'",
          "image_status_code_retries: 5",
          "compute_connect_retries: 5",
          "compute_min_version: '2.1'",
          "has_network: false",
          "network_interface: public",
          "volume_service_type: volumev3"}},
        {"told",
         {"force_ipv4: true", "prefer_ipv6: false", "intreface: internal", "quota: {a: b}"}},
        {"refused",
         {"profile: rackspace",
          "cloud: rackspace",
          "auth_type: v3token",
          "auth_type: none",
          "auth_type: v3oidcpassword",
          "auth_methods: v3totp",
          "passcode: '1'",
          "token: t",
          "auth_token: t",
          "system_scope: all",
          "trust_id: t",
          "interface: outside",
          "verify: perhaps",
          "cacert: nofile",
          "identity_api_version: '2.0'",
          "compute_interface: admin",
          "identity_endpoint_type: adminURL",
          "placement_region_name: Q",
          "compute_service_type: compute_legacy",
          "image_service_name: other",
          "compute_endpoint_override: ftp://k/",
          "placement_endpoint: k",
          "cert: {a: b}"}}};
    for (const auto& [fate, lines] : keys)
        for (const std::string& line : lines) EXPECT_EQ(fate_of(line), fate) << line;
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

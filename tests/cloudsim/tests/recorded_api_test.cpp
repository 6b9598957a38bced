// The simulated cloud's answers against those recorded from real services: field by field.
#include <cctype>
#include <fstream>
#include <gtest/gtest.h>

#include "tests/cloudsim/tests/box.hpp"
#include "tests/cloudsim/tests/shape.hpp"

namespace reaper::cloudsim::test::recorded_api_test {
namespace {

Json recorded(const std::string& name) {
    std::ifstream file(std::string(REAPER_TEST_DATA) + "/openstack-zed/api/" + name + ".json");
    EXPECT_TRUE(file) << name;
    return Json::parse(file);
}

/// As the cloud was when it was recorded: revocable servers hold CUSTOM_PREEMPTIBLE of a nested
/// provider, one server found no host.
class RecordedApiTest : public ::testing::Test {
protected:
    static Settings settings() {
        Settings made = lab_settings();
        made.nested = {{"CUSTOM_PREEMPTIBLE", 4}};
        made.flavors["spot-small"] = {2, 1024, 10, 0, 0, {{"resources1:CUSTOM_PREEMPTIBLE", "1"}}};
        return made;
    }

    RecordedApiTest() : box(settings()) {
        server = box.boot("spot-small", "spot", "host-2");
        for (const char* host : {"host-1", "host-2", "host-3"})
            box.boot("spot-small", "spot", host);
        const Answer refused = box.ask("large");
        box.settle();
        EXPECT_EQ(box.server(refused.body["server"]["id"])["status"], "ERROR");
        provider = box.provider("host-2");
        child = box.provider("host-2_preemptible");
    }

    /// Our answer to `target` must have the recorded one's form, status and headers.
    void expect_same(const std::string& name, const Answer& ours) {
        const Json real = recorded(name);
        EXPECT_EQ(ours.status(), real["status"]);
        for (const std::string& line : differences(real["body"], ours.body))
            ADD_FAILURE() << name << ": " << line;
        for (const auto& [key, value] : real["headers"].items()) expect_header(ours, key, value);
    }

    static void expect_header(const Answer& ours, const std::string& key,
                              const std::string& value) {
        std::string lower = key;
        for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        const std::string is =
            lower == "content-type" ? ours.response.content_type : ours.header(lower);
        if (lower == "x-subject-token")
            EXPECT_NE(is, "") << key;
        else if (format_of(value) == "request id")
            EXPECT_EQ(format_of(is), "request id") << key;
        else
            EXPECT_EQ(is, value) << key;
    }

    void expect_same(const std::string& name, const std::string& target) {
        expect_same(name, box.get(target));
    }

    Box box;
    std::string server, provider, child;
};

TEST_F(RecordedApiTest, KeystoneToken) {
    const Json login = Json::parse(R"({"auth": {"identity": {"methods": ["password"],
        "password": {"user": {"name": "admin", "domain": {"id": "default"},
        "password": "cloudsim-admin"}}}, "scope": {"project": {"name": "service",
        "domain": {"id": "default"}}}}})");
    expect_same("keystone-auth-tokens",
                box.call_as("", "", "POST", "/identity/v3/auth/tokens", login));
}

TEST_F(RecordedApiTest, KeystoneRefusesAWrongPassword) {
    const Json login = Json::parse(R"({"auth": {"identity": {"methods": ["password"],
        "password": {"user": {"name": "admin", "domain": {"id": "default"},
        "password": "wrong"}}}}})");
    expect_same("keystone-auth-tokens-401",
                box.call_as("", "", "POST", "/identity/v3/auth/tokens", login));
}

TEST_F(RecordedApiTest, KeystoneProjects) {
    expect_same("keystone-projects-preemptible", "/identity/v3/projects?tags=preemptible");
}

TEST_F(RecordedApiTest, NovaServers) {
    expect_same("nova-servers-detail", "/compute/v2.1/servers/detail?all_tenants=1&limit=3");
    expect_same("nova-servers-detail-status-error",
                "/compute/v2.1/servers/detail?all_tenants=1&status=ERROR");
}

TEST_F(RecordedApiTest, NovaActionsThatFoundNoHost) {
    const Answer refused = box.ask("large", "regular", {{"availability_zone", "nova"}});
    const std::string failed = refused.body["server"]["id"];
    box.settle();
    const std::string servers = "/compute/v2.1/servers/";
    const std::string actions = "/os-instance-actions/";
    expect_same("nova-server-error", servers + failed);
    expect_same("nova-action-create-failed",
                servers + failed + actions + refused.header("x-openstack-request-id"));
    const Answer resized = box.call("POST", servers + server + "/action",
                                    {{"resize", {{"flavorRef", box.flavor("large")}}}});
    box.settle();
    expect_same("nova-action-resize-failed",
                servers + server + actions + resized.header("x-openstack-request-id"));
    expect_same("nova-action-404",
                servers + server + actions + "req-00000000-0000-0000-0000-000000000000");
    expect_same("nova-flavor", "/compute/v2.1/flavors/" + box.flavor("large"));
}

TEST_F(RecordedApiTest, NovaHostsServicesAndAggregates) {
    expect_same("nova-os-hypervisors-detail", "/compute/v2.1/os-hypervisors/detail");
    expect_same("nova-os-services-compute", "/compute/v2.1/os-services?binary=nova-compute");
    expect_same("nova-os-aggregates", "/compute/v2.1/os-aggregates");
}

TEST_F(RecordedApiTest, NovaKnowsNoSuchServer) {
    expect_same("nova-delete-404",
                box.call("DELETE", "/compute/v2.1/servers/00000000-0000-0000-0000-000000000000"));
}

TEST_F(RecordedApiTest, PlacementProviders) {
    const std::string base = "/placement/resource_providers";
    expect_same("placement-resource_providers", base);
    expect_same("placement-provider-inventories", base + "/" + provider + "/inventories");
    expect_same("placement-provider-usages", base + "/" + provider + "/usages");
    expect_same("placement-provider-traits", base + "/" + provider + "/traits");
    expect_same("placement-provider-aggregates", base + "/" + provider + "/aggregates");
    expect_same("placement-provider-allocations", base + "/" + provider + "/allocations");
    expect_same("placement-child-inventories", base + "/" + child + "/inventories");
    expect_same("placement-child-allocations", base + "/" + child + "/allocations");
}

TEST_F(RecordedApiTest, PlacementAllocationsAndCandidates) {
    expect_same("placement-allocations-of-server", "/placement/allocations/" + server);
    expect_same("placement-allocation_candidates",
                "/placement/allocation_candidates?resources=VCPU:1,MEMORY_MB:512&limit=1000");
    expect_same("placement-allocation_candidates-none",
                "/placement/allocation_candidates?resources=VCPU:9");
}

TEST_F(RecordedApiTest, TheTraitsOfAHostAreThoseOfARealOne) {
    EXPECT_EQ(box.get("/placement/resource_providers/" + provider + "/traits").body["traits"],
              recorded("placement-provider-traits")["body"]["traits"]);
}

}  // namespace
}  // namespace reaper::cloudsim::test::recorded_api_test

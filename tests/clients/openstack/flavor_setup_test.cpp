#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/clients/openstack/fake_openstack.hpp"

namespace reaper::flavor_setup_test {
namespace {

using test::FakeOpenStack;
using test::json_reply;
using test::ServerRequest;
using ::testing::HasSubstr;

class FlavorSetupTest : public ::testing::Test {
protected:
    FlavorSetupTest() : parts(cloud.connect()) {}
    FlavorSetup& setup() { return *parts.flavors; }

    FakeOpenStack cloud;
    OpenStack parts;
};

TEST_F(FlavorSetupTest, AFlavorIsMadeWithItsNumbers) {
    nlohmann::json asked;
    cloud.on("POST /nova/v2.1/flavors", [&](const ServerRequest& request) {
        asked = nlohmann::json::parse(request.body);
        return json_reply(200, R"({"flavor": {"id": "f-1", "name": "revocable.small"}})");
    });
    Flavor wanted;
    wanted.name = "revocable.small";
    wanted.vcpus = 1;
    wanted.memory_mb = 2048;
    wanted.root_gb = 10;
    const auto id = cloud.run(setup().create_flavor(wanted));
    ASSERT_TRUE(id) << id.error().what;
    EXPECT_EQ(*id, "f-1");
    EXPECT_EQ(asked, nlohmann::json::parse(R"({"flavor": {"name": "revocable.small", "vcpus": 1,
        "ram": 2048, "disk": 10, "swap": 0, "OS-FLV-EXT-DATA:ephemeral": 0,
        "os-flavor-access:is_public": true}})"));
}

TEST_F(FlavorSetupTest, PropertiesAreSet) {
    nlohmann::json asked;
    cloud.on("POST /nova/v2.1/flavors/f-1/os-extra_specs", [&](const ServerRequest& request) {
        asked = nlohmann::json::parse(request.body);
        return json_reply(200, request.body);
    });
    std::map<std::string, std::string> specs{{"resources:VCPU", "0"}};
    ASSERT_TRUE(cloud.run(setup().set_extra_specs("f-1", specs)));
    EXPECT_EQ(asked, nlohmann::json::parse(R"({"extra_specs": {"resources:VCPU": "0"}})"));
}

TEST_F(FlavorSetupTest, RemovedIsWhatIsGone) {
    for (const int status : {202, 404}) {
        cloud.on("DELETE /nova/v2.1/flavors/f-1", json_reply(status, "{}"));
        EXPECT_TRUE(cloud.run(setup().remove_flavor("f-1"))) << status;
    }
}

TEST_F(FlavorSetupTest, ARefusalNamesThePolicyOrTheConflict) {
    const std::string no = R"({"forbidden": {"code": 403, "message": "Policy does not allow it"}})";
    cloud.on("POST /nova/v2.1/flavors", json_reply(403, no));
    const auto refused = cloud.run(setup().create_flavor(Flavor{}));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::forbidden);
    EXPECT_THAT(refused.error().what, HasSubstr("os_compute_api:os-flavor-manage:create"));
    cloud.on("POST /nova/v2.1/flavors",
             json_reply(409, R"({"conflictingRequest": {"code": 409, "message": "exists"}})"));
    EXPECT_EQ(cloud.run(setup().create_flavor(Flavor{})).error().code, Errc::conflict);
    cloud.on("POST /nova/v2.1/flavors", json_reply(200, R"({"flavor": {}})"));
    EXPECT_EQ(cloud.run(setup().create_flavor(Flavor{})).error().code, Errc::bad_answer);
}

}  // namespace
}  // namespace reaper::flavor_setup_test

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/clients/openstack/fake_openstack.hpp"

namespace reaper::placement_setup_test {
namespace {

using test::FakeOpenStack;
using test::json_reply;
using test::recorded_answer;
using test::Reply;
using test::ServerRequest;
using ::testing::HasSubstr;

const ResourceClass spot{"CUSTOM_PREEMPTIBLE"};
const std::string root = "335ec9a8-ba39-4138-b807-859a56184961";
const std::string child = "ef72178a-60e6-4c7b-b4a4-c062cbe99371";
const std::string inventories_path = "/resource_providers/" + child + "/inventories";

Reply refusal(int status, const std::string& code = "placement.undefined_code") {
    const nlohmann::json error = {
        {"status", status}, {"title", "No"}, {"detail", "it is so"}, {"code", code}};
    return json_reply(status, nlohmann::json{{"errors", {error}}}.dump());
}

class PlacementSetupTest : public ::testing::Test {
protected:
    PlacementSetupTest() : parts(cloud.connect()) {}
    void on(const std::string& method, const std::string& path, Reply reply) {
        cloud.on(method + " /placement" + path, std::move(reply));
    }
    PlacementSetup& setup() { return *parts.setup; }

    FakeOpenStack cloud;
    OpenStack parts;
};

TEST_F(PlacementSetupTest, AClassIsLookedForCreatedAndRemoved) {
    const std::string path = "/resource_classes/CUSTOM_PREEMPTIBLE";
    EXPECT_FALSE(*cloud.run(setup().has_class(spot)));
    on("GET", path, json_reply(200, R"({"name": "CUSTOM_PREEMPTIBLE", "links": []})"));
    EXPECT_TRUE(*cloud.run(setup().has_class(spot)));
    for (const int status : {201, 204}) {
        on("PUT", path, json_reply(status, ""));
        EXPECT_TRUE(cloud.run(setup().create_class(spot)));
    }
    on("DELETE", path, json_reply(204, ""));
    EXPECT_TRUE(cloud.run(setup().remove_class(spot)));
    on("DELETE", path, refusal(404));
    EXPECT_TRUE(cloud.run(setup().remove_class(spot))) << "it is gone already";
    on("DELETE", path, refusal(409));
    EXPECT_EQ(cloud.run(setup().remove_class(spot)).error().code, Errc::conflict);
}

TEST_F(PlacementSetupTest, AProviderIsCreatedBelowItsHostAndFoundByItsName) {
    nlohmann::json asked;
    cloud.on("POST /placement/resource_providers", [&](const ServerRequest& request) {
        asked = nlohmann::json::parse(request.body);
        return json_reply(201, "");
    });
    const nlohmann::json made = {{"uuid", child},
                                 {"name", "host 1-preemptible"},
                                 {"parent_provider_uuid", root},
                                 {"root_provider_uuid", root}};
    on("GET", "/resource_providers?name=host%201-preemptible",
       json_reply(200, nlohmann::json{{"resource_providers", {made}}}.dump()));
    const auto id = cloud.run(setup().create_provider("host 1-preemptible", ProviderId{root}));
    ASSERT_TRUE(id) << id.error().what;
    EXPECT_EQ(id->str(), child);
    EXPECT_EQ(asked,
              nlohmann::json({{"name", "host 1-preemptible"}, {"parent_provider_uuid", root}}));
}

TEST_F(PlacementSetupTest, AProviderOfItsOwnIsCreatedWithItsId) {
    nlohmann::json asked;
    cloud.on("POST /placement/resource_providers", [&](const ServerRequest& request) {
        asked = nlohmann::json::parse(request.body);
        return json_reply(201, "");
    });
    ASSERT_TRUE(cloud.run(setup().create_root("register", ProviderId{child})));
    EXPECT_EQ(asked, nlohmann::json({{"name", "register"}, {"uuid", child}}));
}

TEST_F(PlacementSetupTest, AProviderThatIsThereAlreadyIsNoConflictUnlessItIsAnother) {
    const auto taken_by = [&](const std::string& id) {
        const nlohmann::json other = {
            {"uuid", id}, {"name", "register"}, {"root_provider_uuid", id}, {"generation", 0}};
        on("POST", "/resource_providers", refusal(409));
        on("GET", "/resource_providers?name=register",
           json_reply(200, nlohmann::json{{"resource_providers", {other}}}.dump()));
        return cloud.run(setup().create_root("register", ProviderId{child}));
    };
    EXPECT_TRUE(taken_by(child)) << taken_by(child).error().what;
    EXPECT_EQ(taken_by(root).error().code, Errc::conflict);
    on("GET", "/resource_providers?name=register",
       json_reply(200, R"({"resource_providers": []})"));
    EXPECT_EQ(cloud.run(setup().create_root("register", ProviderId{child})).error().code,
              Errc::conflict)
        << "its id is that of a provider of another name";
}

TEST_F(PlacementSetupTest, AProviderThatIsInUseIsAConflictAndOneThatIsGoneIsRemoved) {
    on("DELETE", "/resource_providers/" + child, refusal(409));
    EXPECT_EQ(cloud.run(setup().remove_provider(ProviderId{child})).error().code, Errc::conflict);
    on("DELETE", "/resource_providers/" + child, refusal(404));
    EXPECT_TRUE(cloud.run(setup().remove_provider(ProviderId{child})));
}

class TotalTest : public PlacementSetupTest {
protected:
    TotalTest() {
        inventories = recorded_answer("placement-child-inventories");
        cloud.on("GET /placement" + inventories_path,
                 [this](const ServerRequest&) { return json_reply(200, inventories.dump()); });
        cloud.on("PUT /placement" + inventories_path, [this](const ServerRequest& request) {
            const auto wanted = nlohmann::json::parse(request.body);
            auto& generation = inventories["resource_provider_generation"];
            if (collisions-- > 0) generation = generation.get<int>() + 1;
            if (wanted.at("resource_provider_generation") != generation)
                return refusal(409, "placement.concurrent_update");
            inventories["inventories"] = wanted.at("inventories");
            generation = generation.get<int>() + 1;
            return json_reply(200, inventories.dump());
        });
    }
    Result<void> set(Amount total) {
        return cloud.run(setup().set_total(ProviderId{child}, spot, total));
    }
    nlohmann::json& held() { return inventories["inventories"]["CUSTOM_PREEMPTIBLE"]; }
    std::size_t writes() const {
        return cloud.server.count("PUT", "/placement" + inventories_path);
    }

    nlohmann::json inventories;
    int collisions = 0;
};

TEST_F(TotalTest, IsSetWithAllElseAsItWas) {
    inventories["inventories"]["CUSTOM_OTHER"] = held();
    nlohmann::json expected = inventories["inventories"];
    expected["CUSTOM_PREEMPTIBLE"]["total"] = 9;
    ASSERT_TRUE(set(9));
    EXPECT_EQ(inventories["inventories"], expected);
    ASSERT_TRUE(set(9));
    EXPECT_EQ(writes(), 1U) << "what is so already is not written";
}

TEST_F(TotalTest, OfAnEmptyInventoryIsSetWithPlacementsDefaults) {
    inventories["inventories"] = nlohmann::json::object();
    ASSERT_TRUE(set(4));
    EXPECT_EQ(held().at("total"), 4);
    EXPECT_EQ(held().at("reserved"), 0);
    EXPECT_EQ(held().at("allocation_ratio"), 1.0);
}

TEST_F(TotalTest, IsNeverLessThanWhatIsReserved) {
    held()["reserved"] = held().at("total");
    ASSERT_TRUE(set(1));
    EXPECT_EQ(held().at("reserved"), 1);
}

TEST_F(TotalTest, IsSetThoughTheProviderChangesMeanwhileButNotForever) {
    collisions = 3;
    EXPECT_TRUE(set(9));
    collisions = 1000;
    EXPECT_EQ(set(11).error().code, Errc::conflict);
    EXPECT_EQ(writes(), 4U + 5U);
}

TEST_F(PlacementSetupTest, AMissingRightIsNamed) {
    on("PUT", "/resource_classes/CUSTOM_PREEMPTIBLE", refusal(403));
    on("POST", "/resource_providers", refusal(403));
    on("DELETE", "/resource_providers/" + child, refusal(403));
    const auto created = cloud.run(setup().create_class(spot));
    EXPECT_EQ(created.error().code, Errc::forbidden);
    EXPECT_THAT(created.error().what, HasSubstr("placement:resource_classes:update"));
    EXPECT_THAT(cloud.run(setup().create_provider("n", ProviderId{root})).error().what,
                HasSubstr("placement:resource_providers:create"));
    EXPECT_THAT(cloud.run(setup().create_root("n", ProviderId{child})).error().what,
                HasSubstr("placement:resource_providers:create"));
    EXPECT_THAT(cloud.run(setup().remove_provider(ProviderId{child})).error().what,
                HasSubstr("placement:resource_providers:delete"));
}

}  // namespace
}  // namespace reaper::placement_setup_test

// Nested providers and how much they have in all, as the Placement port changes them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/clients/openstack/fake_openstack.hpp"

namespace reaper::placement_totals_test {
namespace {

using test::FakeOpenStack;
using test::json_reply;
using test::recorded_answer;
using test::Reply;
using test::ServerRequest;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string root = "335ec9a8-ba39-4138-b807-859a56184961";
const std::string child = "ef72178a-60e6-4c7b-b4a4-c062cbe99371";
const std::string spot = "CUSTOM_PREEMPTIBLE";
constexpr auto deadline = std::chrono::seconds(5);

Reply refusal(int status, const std::string& code) {
    const nlohmann::json error = {
        {"status", status}, {"title", "No"}, {"detail", "it is so"}, {"code", code}};
    return json_reply(status, nlohmann::json{{"errors", {error}}}.dump());
}

class TotalsTest : public ::testing::Test {
protected:
    TotalsTest() : parts(cloud.connect()) {
        inventories = recorded_answer("placement-child-inventories");
        cloud.on("GET /placement" + base,
                 [this](const ServerRequest&) { return json_reply(200, inventories.dump()); });
        cloud.on("PUT /placement" + base, [this](const ServerRequest& request) {
            return put(nlohmann::json::parse(request.body));
        });
    }
    /// As Placement does it.
    Reply put(const nlohmann::json& wanted) {
        if (before_put) before_put();
        auto& generation = inventories["resource_provider_generation"];
        if (refused) return *refused;
        if (wanted.at("resource_provider_generation") != generation)
            return refusal(409, "placement.concurrent_update");
        inventories["inventories"] = wanted.at("inventories");
        generation = generation.get<int>() + 1;
        bodies.push_back(wanted);
        return json_reply(200, inventories.dump());
    }
    Result<TotalAnswer> change(Amount from, Amount to, Amount min_unit = 1) {
        TotalChange wanted;
        wanted.provider = ProviderId{child};
        wanted.resource_class = ResourceClass{spot};
        wanted.from = from;
        wanted.to = to;
        wanted.min_unit = min_unit;
        return cloud.run(parts.placement->change_total(wanted, deadline));
    }
    nlohmann::json& all() { return inventories["inventories"]; }

    FakeOpenStack cloud;
    OpenStack parts;
    const std::string base = "/resource_providers/" + child + "/inventories";
    nlohmann::json inventories;
    std::vector<nlohmann::json> bodies;
    std::function<void()> before_put;
    std::optional<Reply> refused;
};

TEST_F(TotalsTest, IsChangedWithAllElseAsItWas) {
    all()[spot]["reserved"] = 1;
    nlohmann::json expected = all();
    expected[spot]["total"] = 6;
    const auto answer = change(4, 6);
    ASSERT_TRUE(answer) << answer.error().what;
    EXPECT_TRUE(answer->done);
    EXPECT_EQ(answer->found.total, 4);
    EXPECT_EQ(all(), expected);
}

TEST_F(TotalsTest, APartThatIsReservedStaysAPart) {
    all()[spot]["reserved"] = 3;
    EXPECT_TRUE(change(4, 2)->done);
    EXPECT_EQ(all()[spot]["reserved"], 1);
    EXPECT_TRUE(change(2, 1, 2)->done);
    EXPECT_EQ(all()[spot]["reserved"], 0);
}

TEST_F(TotalsTest, AllOfItStaysReserved) {
    all()[spot]["reserved"] = 4;
    EXPECT_TRUE(change(4, 2)->done);
    EXPECT_EQ(all()[spot]["reserved"], 2);
    EXPECT_TRUE(change(2, 6)->done);
    EXPECT_EQ(all()[spot]["reserved"], 6);
}

TEST_F(TotalsTest, IsClosedByItsUnit) {
    EXPECT_TRUE(change(4, 1, 2)->done);
    EXPECT_EQ(all()[spot]["total"], 1);
    EXPECT_EQ(all()[spot]["min_unit"], 2);
    EXPECT_TRUE(change(1, 1, 1)->done);
    EXPECT_EQ(all()[spot]["min_unit"], 1);
}

TEST_F(TotalsTest, ItsAllocationRatioBecomesOne) {
    all()[spot]["allocation_ratio"] = 2.0;
    EXPECT_TRUE(change(4, 4)->done);
    EXPECT_EQ(all()[spot]["allocation_ratio"], 1.0);
    EXPECT_EQ(all()[spot]["total"], 4);
    EXPECT_EQ(bodies.size(), 1U);
}

TEST_F(TotalsTest, ThatAnotherClientSetIsLeftAlone) {
    const auto answer = change(9, 6);
    ASSERT_TRUE(answer);
    EXPECT_FALSE(answer->done);
    EXPECT_EQ(answer->found.total, 4);
    EXPECT_THAT(bodies, IsEmpty());
}

TEST_F(TotalsTest, ThatIsAsWantedAlreadyIsNotWritten) {
    EXPECT_TRUE(change(9, 4)->done);
    EXPECT_THAT(bodies, IsEmpty());
}

TEST_F(TotalsTest, AnInventoryIsMadeAndRemoved) {
    const nlohmann::json others = [&] {
        nlohmann::json rest = all();
        rest.erase(spot);
        return rest;
    }();
    EXPECT_TRUE(change(4, 0)->done);
    EXPECT_EQ(all(), others);
    const auto made = change(0, 3);
    ASSERT_TRUE(made) << made.error().what;
    EXPECT_TRUE(made->done);
    EXPECT_EQ(made->found.total, 0);
    EXPECT_EQ(all()[spot]["total"], 3);
    EXPECT_EQ(all()[spot]["reserved"], 0);
}

TEST_F(TotalsTest, IsSetThoughTheProviderChangesMeanwhileButNotForever) {
    int changes = 0;
    int most = 3;
    before_put = [&] {
        auto& generation = inventories["resource_provider_generation"];
        if (++changes <= most) generation = generation.get<int>() + 1;
    };
    EXPECT_TRUE(change(4, 6)->done);
    EXPECT_EQ(changes, 4);
    changes = 0;
    most = 1'000;
    EXPECT_EQ(change(6, 8).error().code, Errc::conflict);
    EXPECT_EQ(changes, 5);
}

TEST_F(TotalsTest, WhatIsHeldIsNotRemoved) {
    refused = refusal(409, "placement.inventory.inuse");
    EXPECT_EQ(change(4, 0).error().code, Errc::conflict);
}

TEST_F(TotalsTest, AMissingRightIsNamed) {
    refused = refusal(403, "placement.undefined_code");
    EXPECT_THAT(change(4, 6).error().what,
                HasSubstr("placement:resource_providers:inventories:update"));
}

TEST_F(TotalsTest, AProviderThatIsGoneIsNotFound) {
    cloud.on("GET /placement" + base, refusal(404, "placement.undefined_code"));
    EXPECT_EQ(change(4, 6).error().code, Errc::not_found);
}

// ---- the provider ----

class NestedTest : public TotalsTest {
protected:
    static constexpr const char* name = "compute-1-spot";
    void there_is(const std::string& parent) {
        const nlohmann::json made = {{"uuid", child},
                                     {"name", name},
                                     {"parent_provider_uuid", parent},
                                     {"root_provider_uuid", parent}};
        cloud.on("GET /placement/resource_providers?name=compute-1-spot",
                 json_reply(200, nlohmann::json{{"resource_providers", {made}}}.dump()));
    }
    Result<ProviderId> create() {
        return cloud.run(parts.placement->create_provider(name, ProviderId{root}, deadline));
    }
};

TEST_F(NestedTest, IsCreatedBelowItsHost) {
    cloud.on("POST /placement/resource_providers", json_reply(201, ""));
    there_is(root);
    EXPECT_EQ(create()->str(), child);
}

TEST_F(NestedTest, ThatIsThereAlreadyIsThatOne) {
    cloud.on("POST /placement/resource_providers", refusal(409, "placement.duplicate_name"));
    there_is(root);
    EXPECT_EQ(create()->str(), child);
}

TEST_F(NestedTest, ThatIsAnothersIsAConflict) {
    cloud.on("POST /placement/resource_providers", refusal(409, "placement.duplicate_name"));
    there_is("00000000-0000-4000-8000-000000000000");
    EXPECT_EQ(create().error().code, Errc::conflict);
}

TEST_F(NestedTest, AMissingRightToCreateIsNamed) {
    cloud.on("POST /placement/resource_providers", refusal(403, "placement.undefined_code"));
    EXPECT_THAT(create().error().what, HasSubstr("placement:resource_providers:create"));
}

}  // namespace
}  // namespace reaper::placement_totals_test

// Placement's arithmetic, generations and refusals, through its API.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cloudsim/tests/box.hpp"

namespace reaper::cloudsim::test::placement_test {
namespace {

using ::testing::HasSubstr;

const std::string base = "/placement/resource_providers";
const std::string consumer = "11111111-2222-4333-8444-555555555555";
const std::string other = "11111111-2222-4333-8444-666666666666";

class PlacementTest : public ::testing::Test {
protected:
    PlacementTest() : host(box.provider("host-1")) {}

    Json claim(std::int64_t vcpus, const Json& generation,
               const std::string& type = "RESERVATION") {
        return {{"allocations", {{host, {{"resources", {{"VCPU", vcpus}}}}}}},
                {"project_id", "p"},
                {"user_id", "u"},
                {"consumer_generation", generation},
                {"consumer_type", type}};
    }
    Answer put(const std::string& id, const Json& body) {
        return box.call("PUT", "/placement/allocations/" + id, body);
    }
    std::int64_t used() { return box.get(base + "/" + host + "/usages").body["usages"]["VCPU"]; }
    std::int64_t generation() { return box.get(base + "/" + host).body["generation"]; }
    static std::string code(const Answer& answer) { return answer.body["errors"][0]["code"]; }

    Box box;
    std::string host;
};

TEST_F(PlacementTest, AClaimTakesRoomAndBumpsGenerations) {
    const auto before = generation();
    ASSERT_EQ(put(consumer, claim(4, nullptr)).status(), 204);
    EXPECT_EQ(used(), 4);
    EXPECT_EQ(generation(), before + 1);
    const Json held = box.get("/placement/allocations/" + consumer).body;
    EXPECT_EQ(held["allocations"][host]["resources"]["VCPU"], 4);
    EXPECT_EQ(held["consumer_generation"], 1);
    EXPECT_EQ(held["consumer_type"], "RESERVATION");
}

TEST_F(PlacementTest, TheLastUnitFitsAndOneMoreIsRefusedForCapacity) {
    EXPECT_EQ(put(consumer, claim(10, nullptr)).status(), 204);
    const Answer more = put(other, claim(1, nullptr));
    EXPECT_EQ(more.status(), 409);
    EXPECT_EQ(code(more), "placement.undefined_code");
    EXPECT_THAT(more.body["errors"][0]["detail"].get<std::string>(),
                HasSubstr("exceed the capacity"));
    EXPECT_EQ(used(), 10);
}

TEST_F(PlacementTest, AStaleConsumerGenerationIsAConcurrentUpdate) {
    put(consumer, claim(4, nullptr));
    const Answer as_new = put(consumer, claim(5, nullptr));
    EXPECT_EQ(as_new.status(), 409);
    EXPECT_EQ(code(as_new), "placement.concurrent_update");
    EXPECT_EQ(put(consumer, claim(5, 7)).status(), 409);
    EXPECT_EQ(put(consumer, claim(5, 1)).status(), 204);
    EXPECT_EQ(used(), 5) << "what it held before is replaced";
}

TEST_F(PlacementTest, DeletingAllocationsBumpsNoGeneration) {
    put(consumer, claim(4, nullptr));
    const auto before = generation();
    EXPECT_EQ(box.call("DELETE", "/placement/allocations/" + consumer).status(), 204);
    EXPECT_EQ(generation(), before);
    EXPECT_EQ(used(), 0);
    EXPECT_EQ(box.call("DELETE", "/placement/allocations/" + consumer).status(), 404);
    EXPECT_EQ(box.get("/placement/allocations/" + consumer).body,
              Json::parse(R"({"allocations":{}})"));
}

TEST_F(PlacementTest, SeveralConsumersChangeAtOnceOrNotAtAll) {
    put(consumer, claim(8, nullptr));
    Json both{{consumer, claim(3, 1)}, {other, claim(8, nullptr)}};
    EXPECT_EQ(box.call("POST", "/placement/allocations", both).status(), 409);
    EXPECT_EQ(used(), 8) << "nothing changed";
    both[other] = claim(7, nullptr);
    EXPECT_EQ(box.call("POST", "/placement/allocations", both).status(), 204);
    EXPECT_EQ(used(), 10);
}

TEST_F(PlacementTest, UnitsAreChecked) {
    Json inventory = box.get(base + "/" + host + "/inventories").body;
    Json& vcpu = inventory["inventories"]["VCPU"];
    vcpu["min_unit"] = 2;
    vcpu["max_unit"] = 6;
    vcpu["step_size"] = 2;
    ASSERT_EQ(box.call("PUT", base + "/" + host + "/inventories", inventory).status(), 200);
    for (const int bad : {1, 3, 8}) {
        const Answer refused = put(consumer, claim(bad, nullptr));
        EXPECT_EQ(refused.status(), 409) << bad;
        EXPECT_THAT(refused.body["errors"][0]["detail"].get<std::string>(),
                    HasSubstr("violate inventory constraints"));
    }
    EXPECT_EQ(put(consumer, claim(6, nullptr)).status(), 204);
}

TEST_F(PlacementTest, InventoriesNeedTheProvidersGeneration) {
    Json inventory = box.get(base + "/" + host + "/inventories").body;
    inventory["inventories"]["VCPU"]["allocation_ratio"] = 1.5;
    EXPECT_EQ(box.call("PUT", base + "/" + host + "/inventories", inventory).status(), 200);
    const Answer stale = box.call("PUT", base + "/" + host + "/inventories", inventory);
    EXPECT_EQ(stale.status(), 409);
    EXPECT_EQ(code(stale), "placement.concurrent_update");
    EXPECT_EQ(put(consumer, claim(15, nullptr)).status(), 409) << "max_unit is still 10";
    EXPECT_EQ(put(consumer, claim(10, nullptr)).status(), 204);
    EXPECT_EQ(put(other, claim(5, nullptr)).status(), 204);
}

TEST_F(PlacementTest, AnInventoryMayBeSetBelowItsUseButNotRemoved) {
    put(consumer, claim(8, nullptr));
    Json inventory = box.get(base + "/" + host + "/inventories").body;
    inventory["inventories"]["VCPU"]["reserved"] = 10;
    const Answer set = box.call("PUT", base + "/" + host + "/inventories", inventory);
    ASSERT_EQ(set.status(), 200);
    EXPECT_EQ(put(other, claim(1, nullptr)).status(), 409);
    Json without = set.body;
    without["inventories"].erase("VCPU");
    const Answer refused = box.call("PUT", base + "/" + host + "/inventories", without);
    EXPECT_EQ(refused.status(), 409);
    EXPECT_EQ(code(refused), "placement.inventory.inuse");
}

TEST_F(PlacementTest, ANestedProviderIsPartOfItsTree) {
    box.call("PUT", "/placement/resource_classes/CUSTOM_REVOCABLE_VCPU");
    const Answer made =
        box.call("POST", base, {{"name", "host-1_lent"}, {"parent_provider_uuid", host}});
    ASSERT_EQ(made.status(), 200);
    const std::string child = made.body["uuid"];
    EXPECT_EQ(made.body["root_provider_uuid"], host);
    const Json inventory{{"resource_provider_generation", 0},
                         {"inventories", {{"CUSTOM_REVOCABLE_VCPU", {{"total", 8}}}}}};
    ASSERT_EQ(box.call("PUT", base + "/" + child + "/inventories", inventory).status(), 200);
    EXPECT_EQ(box.get(base + "?in_tree=" + child).body["resource_providers"].size(), 2U);
    const Answer found = box.get(
        "/placement/allocation_candidates?resources=MEMORY_MB:512&"
        "resources_lent=CUSTOM_REVOCABLE_VCPU:2");
    ASSERT_EQ(found.body["allocation_requests"].size(), 1U);
    const Json& request = found.body["allocation_requests"][0];
    EXPECT_EQ(request["allocations"][child]["resources"]["CUSTOM_REVOCABLE_VCPU"], 2);
    EXPECT_EQ(request["mappings"]["_lent"], Json::array({child}));
    EXPECT_EQ(box.call("DELETE", base + "/" + host).status(), 409) << "it has a child";
}

TEST_F(PlacementTest, CandidatesLeaveFullHostsOut) {
    put(consumer, claim(10, nullptr));
    const Json found = box.get("/placement/allocation_candidates?resources=VCPU:1").body;
    EXPECT_EQ(found["allocation_requests"].size(), 2U);
    EXPECT_FALSE(found["provider_summaries"].contains(host));
    EXPECT_TRUE(box.get("/placement/allocation_candidates?resources=MEMORY_MB:1")
                    .body["provider_summaries"]
                    .contains(host))
        << "it has memory left";
    EXPECT_EQ(box.get("/placement/allocation_candidates?resources=VCPU:1&limit=1")
                  .body["provider_summaries"]
                  .size(),
              1U);
}

TEST_F(PlacementTest, CandidatesByTraitsTreeAndAggregate) {
    box.call("PUT", "/placement/traits/CUSTOM_FAST");
    Json traits = box.get(base + "/" + host + "/traits").body;
    traits["traits"].push_back("CUSTOM_FAST");
    ASSERT_EQ(box.call("PUT", base + "/" + host + "/traits", traits).status(), 200);
    const std::string query = "/placement/allocation_candidates?resources=VCPU:1";
    auto count = [&](const std::string& more) {
        return box.get(query + more).body["allocation_requests"].size();
    };
    EXPECT_EQ(count("&required=CUSTOM_FAST"), 1U);
    EXPECT_EQ(count("&required=!CUSTOM_FAST"), 2U);
    EXPECT_EQ(count("&root_required=!CUSTOM_FAST"), 2U);
    EXPECT_EQ(count("&in_tree=" + host), 1U);
    EXPECT_EQ(count("&member_of=" + other), 0U);
    EXPECT_EQ(box.get(query + "&required=CUSTOM_UNKNOWN").status(), 400);
    EXPECT_EQ(box.get("/placement/allocation_candidates?resources=CUSTOM_UNKNOWN:1").status(), 400);
    EXPECT_EQ(box.get("/placement/allocation_candidates").status(), 400);
}

TEST_F(PlacementTest, UsagesOfAProjectByConsumerType) {
    put(consumer, claim(4, nullptr));
    put(other, claim(1, nullptr, "INSTANCE"));
    const Json sums = box.get("/placement/usages?project_id=p").body["usages"];
    EXPECT_EQ(sums["RESERVATION"]["VCPU"], 4);
    EXPECT_EQ(sums["INSTANCE"]["consumer_count"], 1);
    const Answer all = box.get("/placement/usages?project_id=p&consumer_type=all");
    EXPECT_EQ(all.body["usages"]["all"]["VCPU"], 5);
}

TEST_F(PlacementTest, VersionsAndRights) {
    EXPECT_EQ(box.call_as("", "placement 1.39", "GET", base).status(), 401);
    EXPECT_EQ(box.call_as("unknown", "placement 1.39", "GET", base).status(), 401);
    const Answer reader = box.call("GET", base, {}, "onlooker", "regular");
    EXPECT_EQ(reader.status(), 403);
    const std::string token = box.token("reaper", "service");
    const Answer too_new = box.call_as(token, "placement 1.40", "GET", base);
    EXPECT_EQ(too_new.status(), 406);
    EXPECT_EQ(too_new.body["errors"][0]["max_version"], "1.39");
    const Answer old = box.call_as(token, "", "GET", base);
    EXPECT_EQ(old.header("openstack-api-version"), "placement 1.0");
    EXPECT_FALSE(old.body["resource_providers"][0].contains("root_provider_uuid"));
    EXPECT_EQ(box.call_as(token, "placement latest", "GET", base).status(), 200);
}

}  // namespace
}  // namespace reaper::cloudsim::test::placement_test

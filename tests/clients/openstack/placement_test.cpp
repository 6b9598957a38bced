#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "clients/openstack/placement_format.hpp"
#include "tests/clients/openstack/fake_openstack.hpp"

namespace reaper::placement_test {
namespace {

using test::FakeOpenStack;
using test::json_reply;
using test::recorded_answer;
using test::Reply;
using test::ServerRequest;
using ::testing::HasSubstr;

const std::string root = "335ec9a8-ba39-4138-b807-859a56184961";
const std::string child = "ef72178a-60e6-4c7b-b4a4-c062cbe99371";
const std::string server = "157cb5d7-ad12-425b-af64-3ba7f81c3149";

class PlacementTest : public ::testing::Test {
protected:
    PlacementTest() : parts(cloud.connect()) {
        on("/resource_providers", "placement-resource_providers");
        on("/resource_providers/" + root + "/inventories", "placement-provider-inventories");
        on("/resource_providers/" + root + "/traits", "placement-provider-traits");
        on("/resource_providers/" + root + "/allocations", "placement-provider-allocations");
        on("/allocations/" + server, "placement-allocations-of-server");
    }
    void on(const std::string& path, const std::string& name) {
        cloud.on("GET /placement" + path, json_reply(200, recorded_answer(name).dump()));
    }
    Placement& placement() { return *parts.placement; }

    FakeOpenStack cloud;
    OpenStack parts;
};

TEST_F(PlacementTest, ReadsRecordedProviders) {
    const auto providers = cloud.run(placement().providers());
    ASSERT_TRUE(providers) << providers.error().what;
    ASSERT_EQ(providers->size(), 6U);
    EXPECT_EQ((*providers)[0].name, "host02");
    EXPECT_TRUE((*providers)[0].parent.empty());
    EXPECT_EQ((*providers)[3].id.str(), child);
    EXPECT_EQ((*providers)[3].parent.str(), root);
    EXPECT_EQ((*providers)[3].root.str(), root);
    EXPECT_EQ(cloud.server.requests().back().header("openstack-api-version"), "placement 1.39");
}

TEST_F(PlacementTest, ReadsTheNamesOfAllResourceClasses) {
    cloud.on("GET /placement/resource_classes",
             json_reply(200, R"({"resource_classes": [{"name": "VCPU", "links": []},
                                                      {"name": "CUSTOM_SPOT", "links": []}]})"));
    const auto classes = cloud.run(placement().resource_classes());
    ASSERT_TRUE(classes) << classes.error().what;
    EXPECT_THAT(*classes,
                ::testing::ElementsAre(ResourceClass{"CUSTOM_SPOT"}, ResourceClass{"VCPU"}));
}

TEST_F(PlacementTest, ReadsOneProvider) {
    const auto state = cloud.run(placement().provider(ProviderId(root)));
    ASSERT_TRUE(state) << state.error().what;
    const Inventory& memory = state->inventories.at(ResourceClass("MEMORY_MB"));
    EXPECT_EQ(memory.total, 8192);
    EXPECT_EQ(memory.max_unit, 8192);
    EXPECT_EQ(memory.capacity(), 8192);
    EXPECT_TRUE(state->traits.contains(Trait("COMPUTE_NODE")));
    EXPECT_EQ(state->allocations.size(), 4U);
    EXPECT_EQ(state->allocations.at(ServerId(server)),
              (Resources{{"VCPU", 2}, {"MEMORY_MB", 1024}, {"DISK_GB", 10}}));
}

TEST_F(PlacementTest, AProviderThatIsGoneIsNotFound) {
    const auto state = cloud.run(placement().provider(ProviderId("gone")));
    ASSERT_FALSE(state);
    EXPECT_EQ(state.error().code, Errc::not_found);
}

TEST_F(PlacementTest, AProviderThatGoesWhileItIsReadIsNotFound) {
    cloud.on("GET /placement/resource_providers/" + root + "/allocations",
             json_reply(404, R"({"errors": [{"status": 404, "title": "Not Found",
                 "detail": "Resource provider not\nfound", "code": "placement.undefined_code"}]})"));
    const auto state = cloud.run(placement().provider(ProviderId(root)));
    ASSERT_FALSE(state);
    EXPECT_EQ(state.error().code, Errc::not_found);
    EXPECT_THAT(state.error().what, HasSubstr("404: Resource provider not found"));
}

TEST_F(PlacementTest, ReadsTheAggregatesOfAProvider) {
    cloud.on("GET /placement/resource_providers/" + root + "/aggregates",
             json_reply(200, R"({"aggregates": ["u1", "u2"], "resource_provider_generation": 4})"));
    const auto known = cloud.run(placement().aggregates(ProviderId(root)));
    ASSERT_TRUE(known) << known.error().what;
    EXPECT_EQ(*known, (std::set<std::string>{"u1", "u2"}));
    EXPECT_FALSE(cloud.run(placement().aggregates(ProviderId("gone"))));
}

TEST_F(PlacementTest, ReadsWhatAServerHoldsOnAllProviders) {
    const auto held = cloud.run(placement().allocations(ServerId(server)));
    ASSERT_TRUE(held) << held.error().what;
    ASSERT_EQ(held->size(), 2U);
    EXPECT_EQ(held->at(ProviderId(child)), (Resources{{"CUSTOM_PREEMPTIBLE", 1}}));
    EXPECT_EQ(held->at(ProviderId(root)).get(ResourceClass("VCPU")), 2);
}

TEST_F(PlacementTest, AConsumerWithoutAllocationsHoldsNothing) {
    cloud.on("GET /placement/allocations/x", json_reply(200, R"({"allocations": {}})"));
    EXPECT_TRUE(cloud.run(placement().allocations(ServerId("x")))->empty());
}

// ---- who holds room ----

TEST_F(PlacementTest, ReadsWhoAConsumerIs) {
    const auto consumer = cloud.run(placement().consumer(ServerId(server)));
    ASSERT_TRUE(consumer) << consumer.error().what;
    const nlohmann::json recorded = recorded_answer("placement-allocations-of-server");
    EXPECT_EQ(consumer->holds.size(), 2U);
    EXPECT_EQ(consumer->generation, recorded["consumer_generation"].get<std::int64_t>());
    EXPECT_EQ(consumer->project, recorded["project_id"].get<std::string>());
    EXPECT_EQ(consumer->user, recorded["user_id"].get<std::string>());
    EXPECT_EQ(consumer->type, "unknown") << "Nova gives its own none";
}

TEST_F(PlacementTest, AnOlderPlacementTellsNoGenerationOfAConsumer) {
    cloud.on("GET /placement/allocations/x", json_reply(200, R"({"allocations": {
        "rp": {"generation": 4, "resources": {"VCPU": 2}}},
        "project_id": "project", "user_id": "user"})"));
    const Consumer expected{{{ProviderId{"rp"}, {{"VCPU", 2}}}}, {}, "project", "user", ""};
    EXPECT_EQ(*cloud.run(placement().consumer(ServerId("x"))), expected);
}

TEST_F(PlacementTest, AConsumerThatIsNotThereHoldsNothing) {
    cloud.on("GET /placement/allocations/x", json_reply(200, R"({"allocations": {}})"));
    EXPECT_EQ(*cloud.run(placement().consumer(ServerId("x"))), Consumer{});
}

TEST_F(PlacementTest, WhatAProjectUsesIsTheSumOfAllTypes) {
    const std::string path = "GET /placement/usages?project_id=p";
    cloud.on(path, json_reply(200, R"({"usages": {
        "RESERVATION": {"consumer_count": 2, "VCPU": 4},
        "unknown": {"consumer_count": 1, "VCPU": 1, "DISK_GB": 5}}})"));
    EXPECT_EQ(*cloud.run(placement().usage_of("p")), (Resources{{"VCPU", 5}, {"DISK_GB", 5}}));
    cloud.on(path, json_reply(200, R"({"usages": {"VCPU": 3}})"));
    EXPECT_EQ(*cloud.run(placement().usage_of("p")), (Resources{{"VCPU", 3}}))
        << "before types were known";
    cloud.on(path, json_reply(200, R"({"usages": {}})"));
    EXPECT_TRUE(cloud.run(placement().usage_of("p"))->empty());
}

class HoldingsTest : public PlacementTest {
protected:
    /// What a server held goes to another consumer.
    Result<void> hand_over() {
        Consumer owner{{}, 3, "project", "user", "unknown"};
        Consumer keeper{{{ProviderId{root}, {{"VCPU", 2}}}}, {}, "project", "user", "RESERVATION"};
        std::vector<ConsumerChange> changes{{ServerId{"old"}, owner}, {ServerId{"new"}, keeper}};
        return cloud.run(placement().set_holdings(changes, std::chrono::seconds(5)));
    }
    nlohmann::json said() { return nlohmann::json::parse(cloud.server.requests().back().body); }
    void answer(int status, const std::string& code) {
        cloud.on("POST /placement/allocations",
                 json_reply(status, R"({"errors": [{"status": 409, "title": "Conflict",
                     "detail": "it is so", "code": ")" +
                                        code + R"("}]})"));
    }
};

TEST_F(HoldingsTest, AreSetAllAtOnce) {
    cloud.on("POST /placement/allocations", json_reply(204, ""));
    ASSERT_TRUE(hand_over());
    EXPECT_EQ(said(), nlohmann::json::parse(R"({
        "old": {"allocations": {}, "consumer_generation": 3, "project_id": "project",
                "user_id": "user", "consumer_type": "INSTANCE"},
        "new": {"allocations": {")" + root + R"(": {"resources": {"VCPU": 2}}},
                "consumer_generation": null, "project_id": "project", "user_id": "user",
                "consumer_type": "RESERVATION"}})"));
}

TEST_F(HoldingsTest, AnOldPlacementGetsNoTypes) {
    cloud.on("GET /placement/", json_reply(200, R"({"versions": [{"id": "v1.0",
        "max_version": "1.36", "min_version": "1.0"}]})"));
    cloud.on("POST /placement/allocations", json_reply(204, ""));
    ASSERT_TRUE(hand_over());
    EXPECT_FALSE(said()["new"].contains("consumer_type"));
}

TEST_F(HoldingsTest, ThatChangedMeanwhileAreAConflict) {
    answer(409, "placement.concurrent_update");
    EXPECT_EQ(hand_over().error().code, Errc::conflict);
}

TEST_F(HoldingsTest, AMissingRightIsNamed) {
    answer(403, "placement.undefined_code");
    const auto refused = hand_over();
    EXPECT_EQ(refused.error().code, Errc::forbidden);
    EXPECT_THAT(refused.error().what, HasSubstr("placement:allocations:manage"));
}

TEST_F(HoldingsTest, AreNotSetTwiceWhenTheAnswerIsLost) {
    int posts = 0;
    cloud.on("POST /placement/allocations", [&](const ServerRequest&) {
        ++posts;
        Reply reply = json_reply(204, "");
        reply.no_answer = true;
        return reply;
    });
    EXPECT_FALSE(hand_over());
    EXPECT_EQ(posts, 1);
}

// ---- reserved ----

class ReservedTest : public PlacementTest {
protected:
    ReservedTest() {
        inventories = recorded_answer("placement-child-inventories");
        cloud.on("GET /placement" + base,
                 [this](const ServerRequest&) { return json_reply(200, inventories.dump()); });
        cloud.on("PUT /placement" + base + "/CUSTOM_PREEMPTIBLE",
                 [this](const ServerRequest& request) {
                     return put(nlohmann::json::parse(request.body));
                 });
    }
    /// As Placement does it.
    Reply put(const nlohmann::json& wanted) {
        if (before_put) before_put();
        auto& generation = inventories["resource_provider_generation"];
        if (refusal.status != 200) return refusal;
        if (wanted.at("resource_provider_generation") != generation)
            return json_reply(409, R"({"errors": [{"status": 409, "title": "Conflict",
                "detail": "generation conflict", "code": "placement.concurrent_update"}]})");
        bodies.push_back(wanted);
        generation = generation.get<int>() + 1;
        spot()["reserved"] = wanted.at("reserved");
        nlohmann::json answer = wanted;
        answer["resource_provider_generation"] = generation;
        Reply reply = json_reply(200, answer.dump());
        reply.no_answer = lose_answer;
        return reply;
    }
    nlohmann::json& spot() { return inventories["inventories"]["CUSTOM_PREEMPTIBLE"]; }
    Result<ReservedAnswer> change(Amount from, Amount to, bool fence = false) {
        ReservedChange wanted;
        wanted.provider = ProviderId{child};
        wanted.resource_class = ResourceClass{"CUSTOM_PREEMPTIBLE"};
        wanted.from = from;
        wanted.to = to;
        wanted.fence = fence;
        return cloud.run(placement().change_reserved(wanted, std::chrono::seconds(5)));
    }

    const std::string base = "/resource_providers/" + child + "/inventories";
    nlohmann::json inventories;
    std::vector<nlohmann::json> bodies;
    std::function<void()> before_put;
    Reply refusal;
    bool lose_answer = false;
};

TEST_F(ReservedTest, IsSetWithAllElseAsItWas) {
    nlohmann::json expected = spot();
    expected["reserved"] = 4;
    expected["resource_provider_generation"] = inventories["resource_provider_generation"];
    const auto answer = change(0, 4);
    ASSERT_TRUE(answer) << answer.error().what;
    EXPECT_TRUE(answer->done);
    EXPECT_EQ(answer->found.reserved, 0);
    EXPECT_EQ(answer->found.total, 4);
    EXPECT_EQ(bodies, std::vector<nlohmann::json>{expected});
}

TEST_F(ReservedTest, ThatAnotherClientSetIsLeftAlone) {
    spot()["reserved"] = 2;
    const auto answer = change(4, 0);
    ASSERT_TRUE(answer) << answer.error().what;
    EXPECT_FALSE(answer->done);
    EXPECT_EQ(answer->found.reserved, 2);
    EXPECT_TRUE(bodies.empty());
}

TEST_F(ReservedTest, ThatIsAsWantedAlreadyIsNotWritten) {
    spot()["reserved"] = 4;
    EXPECT_TRUE(change(0, 4)->done);
    EXPECT_TRUE(bodies.empty());
}

/// One that was sent before has the generation that the provider had then.
TEST_F(ReservedTest, ACallThatArrivesLateIsRefused) {
    nlohmann::json late = spot();
    late["reserved"] = 4;
    late["resource_provider_generation"] = inventories["resource_provider_generation"];
    EXPECT_TRUE(change(4, 0, true)->done);
    EXPECT_EQ(put(late).status, 409);
    EXPECT_EQ(spot()["reserved"], 0);
}

TEST_F(ReservedTest, IsSetThoughTheProviderChangesMeanwhile) {
    int changes = 0;
    before_put = [&] {
        auto& generation = inventories["resource_provider_generation"];
        if (++changes <= 3) generation = generation.get<int>() + 1;
    };
    EXPECT_TRUE(change(0, 4)->done);
    EXPECT_EQ(changes, 4);
}

TEST_F(ReservedTest, IsGivenUpWhenTheProviderNeverComesToRest) {
    int changes = 0;
    before_put = [&] {
        auto& generation = inventories["resource_provider_generation"];
        generation = generation.get<int>() + ++changes;
    };
    const auto answer = change(0, 4);
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, Errc::conflict);
    EXPECT_EQ(changes, 5);
}

TEST_F(ReservedTest, WhoseAnswerIsLostIsStillSet) {
    before_put = [&] { lose_answer = bodies.empty(); };
    const auto answer = change(0, 4);
    ASSERT_TRUE(answer) << answer.error().what;
    EXPECT_TRUE(answer->done);
    EXPECT_EQ(bodies.size(), 1U);
}

TEST_F(ReservedTest, WhoseAnswerIsLostMayBeSetThoughTheNextTryIsRefused) {
    before_put = [&] {
        lose_answer = true;
        cloud.revoke_tokens();
        cloud.auth_failure = json_reply(401, R"({"error": {"message": "no", "code": 401}})");
    };
    const auto answer = change(0, 4);
    ASSERT_FALSE(answer);
    EXPECT_EQ(bodies.size(), 1U);
    EXPECT_FALSE(surely_not_done(answer.error().code)) << answer.error().what;
    EXPECT_THAT(answer.error().what, HasSubstr("the try before it may have been done"));
}

TEST_F(ReservedTest, WithoutTheRightTellsWhichOneIsMissing) {
    refusal = json_reply(403, R"({"errors": [{"status": 403, "title": "Forbidden",
        "detail": "Access was denied to this resource."}]})");
    const auto answer = change(0, 4);
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, Errc::forbidden);
    EXPECT_THAT(answer.error().what, HasSubstr("placement:resource_providers:inventories:update"));
}

TEST_F(ReservedTest, OfAnotherConflictIsNotTriedAgain) {
    refusal = json_reply(409, R"({"errors": [{"status": 409, "title": "Conflict",
        "detail": "in use", "code": "placement.undefined_code"}]})");
    EXPECT_EQ(change(0, 4).error().code, Errc::conflict);
    EXPECT_EQ(cloud.server.count("PUT", "/placement"), 1U);
}

TEST_F(ReservedTest, OfAClassThatIsNotThereIsNotFound) {
    inventories["inventories"].erase("CUSTOM_PREEMPTIBLE");
    EXPECT_EQ(change(0, 4).error().code, Errc::not_found);
}

// ---- versions ----

TEST_F(PlacementTest, AnOldPlacementIsSpokenToInItsOwnVersion) {
    cloud.on("GET /placement/", json_reply(200, R"({"versions": [{"id": "v1.0",
        "max_version": "1.17", "min_version": "1.0"}]})"));
    ASSERT_TRUE(cloud.run(placement().providers()));
    EXPECT_EQ(cloud.server.requests().back().header("openstack-api-version"), "placement 1.17");
}

TEST_F(PlacementTest, AnOlderPlacementIsRefused) {
    cloud.on("GET /placement/", json_reply(200, R"({"versions": [{"id": "v1.0",
        "max_version": "1.10", "min_version": "1.0"}]})"));
    const auto providers = cloud.run(placement().providers());
    ASSERT_FALSE(providers);
    EXPECT_THAT(providers.error().what, HasSubstr("Queens or later is needed"));
}

TEST(PlacementFormat, NamesTheFieldThatIsWrong) {
    const auto missing = openstack::read_inventories(R"({"inventories": {"VCPU": {"total": 1}}})",
                                                     "GET placement /x");
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().what, "GET placement /x: inventories.VCPU.reserved: missing");
    for (const char* amount : {"-1", "1.5", "\"2\"", "99999999999999999999", "null"}) {
        const std::string body =
            R"({"allocations": {"s": {"resources": {"VCPU": )" + std::string(amount) + "}}}}";
        const auto held = openstack::read_provider_allocations(body, "GET placement /x");
        ASSERT_FALSE(held) << amount;
        EXPECT_EQ(held.error().code, Errc::bad_answer);
        EXPECT_THAT(held.error().what, HasSubstr("allocations.s.resources.VCPU")) << amount;
    }
}

TEST(PlacementFormat, ReadsNestedProvidersToo) {
    const auto inventories = openstack::read_inventories(
        recorded_answer("placement-child-inventories").dump(), "GET placement");
    ASSERT_TRUE(inventories) << inventories.error().what;
    EXPECT_EQ(inventories->at(ResourceClass("CUSTOM_PREEMPTIBLE")).total, 4);
    const auto held = openstack::read_provider_allocations(
        recorded_answer("placement-child-allocations").dump(), "GET placement");
    ASSERT_TRUE(held) << held.error().what;
    EXPECT_EQ(held->size(), 4U);
}

}  // namespace
}  // namespace reaper::placement_test

#include "reaper/planner/culling.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/cloud_builder.hpp"

namespace reaper::culling_test {
namespace {

using namespace reaper::testing;
using ::testing::ElementsAre;
using ::testing::Pair;

const Resources half{{"VCPU", 4}, {"MEMORY_MB", 4096}};
const ResourceClass vcpu{"VCPU"};
const ProviderId a{"a"};

/// 8 VCPU: regular ones hold 2, revocable ones 4.
Host small_host() {
    Host made = host("a", {{"VCPU", 8}, {"MEMORY_MB", 8192}});
    put(made, server("regular", a, {{"VCPU", 2}, {"MEMORY_MB", 2048}}));
    put(made, revocable("r1", a, {{"VCPU", 2}, {"MEMORY_MB", 2048}}));
    put(made, revocable("r2", a, {{"VCPU", 2}, {"MEMORY_MB", 1024}}));
    return made;
}

std::optional<CullingCandidate> ask(const Host& host, const Resources& wanted,
                                    const Ledger& ledger = {},
                                    const ProtectSettings& protect = {}) {
    Request request;
    request.resources = wanted;
    const CullingQuestion question{request, {}, CloudIndex{Snapshot{}}, ledger};
    return question.candidate(host, ledger, Protection{protect});
}

TEST(Culling, TellsUseCapacityAndWhoHoldsWhat) {
    const auto found = ask(small_host(), half);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->host_name, "a");
    EXPECT_FALSE(found->has_room);
    EXPECT_THAT(
        found->providers,
        ElementsAre(Pair(a, ElementsAre(Pair(ResourceClass{"MEMORY_MB"}, ClassUse{5120, 8192}),
                                        Pair(vcpu, ClassUse{6, 8})))));
    EXPECT_THAT(
        found->preemptible,
        ElementsAre(Pair(
            a, ElementsAre(Pair(ServerId{"r1"}, Resources{{"VCPU", 2}, {"MEMORY_MB", 2048}}),
                           Pair(ServerId{"r2"}, Resources{{"VCPU", 2}, {"MEMORY_MB", 1024}})))));
}

/// used + wanted - preemptible use <= capacity: here 6 + wanted - 4 <= 8.
TEST(Culling, TheLastUnitFitsAndOneMoreDoesNot) {
    EXPECT_TRUE(ask(small_host(), {{"VCPU", 6}}));
    EXPECT_FALSE(ask(small_host(), {{"VCPU", 7}}));
    EXPECT_TRUE(ask(small_host(), {{"VCPU", 2}})->has_room);
    EXPECT_FALSE(ask(small_host(), {{"VCPU", 3}})->has_room);
    EXPECT_FALSE(ask(small_host(), {{"VCPU", 6}, {"MEMORY_MB", 6145}})) << "each class counts";
    EXPECT_TRUE(ask(small_host(), {{"VCPU", 6}, {"MEMORY_MB", 6144}}));
}

TEST(Culling, AClassThatIsNotOfferedAndUnitsThatRefuseTheAmountMakeNoCandidate) {
    EXPECT_FALSE(ask(small_host(), {{"VCPU", 1}, {"CUSTOM_GPU", 1}}));
    EXPECT_FALSE(ask(small_host(), {}));
    Host stepped = small_host();
    stepped.providers[0].inventories.at(vcpu).step_size = 2;
    EXPECT_TRUE(ask(stepped, {{"VCPU", 4}}));
    EXPECT_FALSE(ask(stepped, {{"VCPU", 3}}));
    stepped.providers[0].inventories.at(vcpu).max_unit = 2;
    EXPECT_FALSE(ask(stepped, {{"VCPU", 4}}));
}

TEST(Culling, ReservedRoomAndRatiosCountAsInPlacement) {
    Host host = small_host();
    host.providers[0].inventories.at(vcpu).reserved = 1;
    EXPECT_TRUE(ask(host, {{"VCPU", 5}}));
    EXPECT_FALSE(ask(host, {{"VCPU", 6}}));
    host.providers[0].inventories.at(vcpu).allocation_ratio = 2.0;
    EXPECT_EQ(ask(host, {{"VCPU", 12}})->providers.at(a).at(vcpu).capacity, 14);
    EXPECT_FALSE(ask(host, {{"VCPU", 13}}));
}

TEST(Culling, WhoMayNotGoDoesNotCount) {
    Host host = small_host();
    host.servers[1].task_state = "migrating";
    EXPECT_FALSE(ask(host, {{"VCPU", 6}}));
    EXPECT_FALSE(ask(host, {{"VCPU", 4}})->preemptible.at(a).contains(host.servers[1].id));
    host = small_host();
    host.servers[1].tags = std::set<std::string>{"reaper-protected"};
    ProtectSettings by_owners;
    by_owners.owners = true;
    EXPECT_FALSE(ask(host, {{"VCPU", 6}}, {}, by_owners));
    EXPECT_TRUE(ask(host, {{"VCPU", 6}}));
}

TEST(Culling, RoomThatIsPromisedToOthersIsNotThere) {
    Ledger ledger;
    Plan plan;
    plan.request = RequestId{"other"};
    plan.slots_requested = plan.slots_wanted = plan.slots_freed = 1;
    HostPlan there;
    there.host = HostId{"a"};
    there.host_name = std::string{"a"};
    there.slots = 1;
    plan.hosts.push_back(there);
    ledger.enter(request({{"VCPU", 2}}, 1, "other"), plan, at(0));
    EXPECT_FALSE(ask(small_host(), {{"VCPU", 6}}, ledger));
    EXPECT_TRUE(ask(small_host(), {{"VCPU", 4}}, ledger));
}

TEST(Culling, HostsOutOfServiceAreNoCandidates) {
    for (const bool down : {true, false}) {
        Host host = small_host();
        (down ? host.up : host.enabled) = false;
        EXPECT_FALSE(ask(host, {{"VCPU", 1}}));
    }
}

TEST(Culling, WhatIsHeldOnNestedProvidersIsReported) {
    Host host = small_host();
    nest(host, "a-slots", {{"CUSTOM_PREEMPTIBLE", 4}});
    const ProviderId slots{"a-slots"};
    host.servers[1].allocations.insert_or_assign(slots, Resources{{"CUSTOM_PREEMPTIBLE", 1}});
    host.providers[1].used = Resources{{"CUSTOM_PREEMPTIBLE", 1}};
    const auto found = ask(host, {{"VCPU", 6}});
    ASSERT_TRUE(found);
    EXPECT_FALSE(found->providers.contains(slots)) << "not asked for";
    EXPECT_THAT(found->preemptible.at(slots),
                ElementsAre(Pair(host.servers[1].id, Resources{{"CUSTOM_PREEMPTIBLE", 1}})));
    const auto both = ask(host, {{"VCPU", 1}, {"CUSTOM_PREEMPTIBLE", 4}});
    ASSERT_TRUE(both);
    EXPECT_EQ(both->providers.at(slots).at(ResourceClass{"CUSTOM_PREEMPTIBLE"}).capacity, 4);
    EXPECT_FALSE(both->has_room);
}

// ---- of a flavor ----

/// What a host of that trait, and of an aggregate of that metadata, answers.
bool fits(const Request& request, const std::set<Trait>& traits,
          const std::map<std::string, std::string>& metadata = {}) {
    Snapshot cloud;
    cloud.hosts.push_back(small_host());
    Host& only = cloud.hosts.front();
    only.providers.front().traits = traits;
    only.member_of = Shared<HostAggregates>{{{"uuid", {"agg", metadata}}}};
    SchedulerRules rules;
    rules.tenant_filter = rules.extra_specs_filter = rules.pcpu_fallback = true;
    const CullingQuestion question{request, rules, CloudIndex{cloud}, Ledger{}};
    return question.candidate(only, Ledger{}, Protection{ProtectSettings{}}).has_value();
}

TEST(Culling, OfAFlavorItsTraitsAndAggregatesCountToo) {
    Request request;
    request.flavor = "gpu.small";
    request.resources = half;
    EXPECT_TRUE(fits(request, {}));
    EXPECT_TRUE(fits(request, {}, {{"filter_tenant_id", "another"}})) << "it is of no project";
    request.required_traits = {Trait{"CUSTOM_GPU"}};
    EXPECT_FALSE(fits(request, {}));
    EXPECT_TRUE(fits(request, {Trait{"CUSTOM_GPU"}}));
    request.required_traits.clear();
    request.flavor_extra_specs = {{"aggregate_instance_extra_specs:ssd", "true"}};
    EXPECT_FALSE(fits(request, {}));
    EXPECT_TRUE(fits(request, {}, {{"ssd", "true"}}));
}

TEST(Culling, WhatNovaAsksForBesidesWillDo) {
    Request request;
    request.flavor = "pinned";
    request.resources = {{"PCPU", 2}};
    EXPECT_FALSE(fits(request, {}));
    request.fallback.emplace();
    request.fallback->resources = {{"VCPU", 2}};
    EXPECT_TRUE(fits(request, {}));
}

}  // namespace
}  // namespace reaper::culling_test

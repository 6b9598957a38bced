#include "reaper/setup/slots.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace reaper::slots_test {
namespace {

using Kind = SlotStep::Kind;
using ::testing::HasSubstr;

const ResourceClass spot{"CUSTOM_PREEMPTIBLE"};

SlotHost slot_host(const std::string& name, Amount vcpus = 10) {
    SlotHost made{HostId{name + "-uuid"}, name, {}};
    made.inventories.emplace(ResourceClass{"VCPU"}, Inventory{.total = vcpus});
    return made;
}

/// Two hosts, nothing set up.
SlotView empty_cloud() {
    SlotView made;
    made.hosts = {slot_host("h1"), slot_host("h2", 3)};
    for (const auto& host : made.hosts) made.providers.push_back({host.id, host.name, {}, host.id});
    return made;
}

void add_slots(SlotView& cloud, const std::string& host, Amount total) {
    const ProviderId root{host + "-uuid"};
    const ProviderId nested{host + "-slots"};
    cloud.class_exists = true;
    cloud.providers.push_back({nested, host + "-preemptible", root, root});
    cloud.states[nested].inventories[spot] = Inventory{.total = total};
}

std::vector<Kind> kinds(const std::vector<SlotStep>& steps) {
    std::vector<Kind> all;
    for (const auto& step : steps) all.push_back(step.kind);
    return all;
}

TEST(Slots, AnEmptyCloudGetsTheClassAndAProviderForEachHost) {
    const auto steps = slots_to_set_up(empty_cloud(), spot, SlotCount{4, {}, 1});
    ASSERT_EQ(kinds(steps),
              (std::vector{Kind::create_class, Kind::create_provider, Kind::create_provider}));
    EXPECT_EQ(steps[0].name, "CUSTOM_PREEMPTIBLE");
    EXPECT_EQ(steps[1].name, "h1-preemptible");
    EXPECT_EQ(steps[1].root, HostId{"h1-uuid"});
    EXPECT_EQ(steps[1].to, 4);
}

TEST(Slots, TheExistingSetupIsKeptAndAnotherTotalIsChanged) {
    auto cloud = empty_cloud();
    add_slots(cloud, "h1", 4);
    add_slots(cloud, "h2", 6);
    cloud.states[ProviderId{"h2-slots"}].allocations[ServerId{"s"}] =
        Resources{{"CUSTOM_PREEMPTIBLE", 5}};
    const auto steps = slots_to_set_up(cloud, spot, SlotCount{4, {}, 1});
    ASSERT_EQ(kinds(steps), (std::vector{Kind::keep, Kind::keep, Kind::set_total}));
    EXPECT_EQ(steps[2].from, 6);
    EXPECT_EQ(steps[2].to, 4);
    EXPECT_THAT(steps[2].why, HasSubstr("5 are in use"));
    EXPECT_EQ(steps[2].provider, ProviderId{"h2-slots"});
}

TEST(Slots, AProviderThatLostItsInventoryGetsItAgain) {
    auto cloud = empty_cloud();
    add_slots(cloud, "h1", 4);
    cloud.states[ProviderId{"h1-slots"}].inventories.clear();
    const auto steps = slots_to_set_up(cloud, spot, SlotCount{4, {}, 1});
    EXPECT_EQ(steps[1].kind, Kind::set_total);
    EXPECT_EQ(steps[1].from, 0);
}

TEST(Slots, TheirNumberMayFollowFromTheHostsCapacity) {
    const auto steps = slots_to_set_up(empty_cloud(), spot, SlotCount{0, ResourceClass{"VCPU"}, 4});
    EXPECT_EQ(steps[1].to, 2);
    EXPECT_EQ(steps[2].kind, Kind::refuse) << "3 VCPU are no slot of 4";
    EXPECT_THAT(steps[2].why, HasSubstr("no slot"));
}

TEST(Slots, AForeignProviderOfThatNameIsNeverTouched) {
    auto cloud = empty_cloud();
    cloud.providers.push_back({ProviderId{"x"}, "h1-preemptible", {}, ProviderId{"x"}});
    const auto steps = slots_to_set_up(cloud, spot, SlotCount{4, {}, 1});
    EXPECT_EQ(steps[1].kind, Kind::refuse);
    EXPECT_THAT(steps[1].why, HasSubstr("elsewhere"));
    EXPECT_EQ(kinds(slots_to_undo(cloud, spot)), std::vector{Kind::keep});
}

TEST(Slots, EachClassHasProvidersOfItsOwn) {
    EXPECT_EQ(slot_provider_name("h1", ResourceClass{"CUSTOM_SPOT_A"}), "h1-spot-a");
    auto cloud = empty_cloud();
    add_slots(cloud, "h1", 4);
    cloud.class_exists = false;
    EXPECT_EQ(kinds(slots_to_set_up(cloud, ResourceClass{"CUSTOM_SPOT"}, SlotCount{1, {}, 1})),
              (std::vector{Kind::create_class, Kind::create_provider, Kind::create_provider}));
}

TEST(Slots, UndoTakesAwayWhatIsOursAndThenTheClass) {
    auto cloud = empty_cloud();
    add_slots(cloud, "h2", 6);
    const auto steps = slots_to_undo(cloud, spot);
    ASSERT_EQ(kinds(steps), (std::vector{Kind::remove_provider, Kind::remove_class}));
    EXPECT_EQ(steps[0].provider, ProviderId{"h2-slots"});
    EXPECT_EQ(steps[0].from, 6);
}

TEST(Slots, UndoRefusesWhatIsHeldOrUsedByOthers) {
    auto cloud = empty_cloud();
    add_slots(cloud, "h1", 4);
    add_slots(cloud, "h2", 4);
    cloud.states[ProviderId{"h1-slots"}].allocations[ServerId{"holder"}] =
        Resources{{"CUSTOM_PREEMPTIBLE", 1}};
    cloud.states[ProviderId{"h2-slots"}].inventories[ResourceClass{"CUSTOM_OTHER"}].total = 1;
    const auto steps = slots_to_undo(cloud, spot);
    ASSERT_EQ(kinds(steps), (std::vector{Kind::refuse, Kind::refuse, Kind::refuse}));
    EXPECT_THAT(steps[0].why, HasSubstr("holder"));
    EXPECT_THAT(steps[1].why, HasSubstr("CUSTOM_OTHER"));
    EXPECT_THAT(steps[2].why, HasSubstr("still in use"));
}

TEST(Slots, WhatWasSetUpNeedsNoMore) {
    auto cloud = empty_cloud();
    add_slots(cloud, "h1", 4);
    add_slots(cloud, "h2", 4);
    for (const auto& step : slots_to_set_up(cloud, spot, SlotCount{4, {}, 1}))
        EXPECT_EQ(step.kind, Kind::keep) << step.host;
    EXPECT_EQ(kinds(slots_to_undo(empty_cloud(), spot)), std::vector{Kind::keep});
}

}  // namespace
}  // namespace reaper::slots_test

#include "reaper/oversubscription/inventory_plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace reaper::inventory_plan_test {
namespace {

using Kind = InventoryStep::Kind;
using ::testing::HasSubstr;

const ResourceClass room_class{"CUSTOM_REVOCABLE_VCPU"};

WantedRoom wanted(const std::string& host, Amount total) {
    WantedRoom made;
    made.id = HostId{host + "-uuid"};
    made.name = host;
    made.total = total;
    return made;
}

Provider& add_ours(WantedRoom& host) {
    Provider ours;
    ours.id = ProviderId{host.name + "-ours"};
    ours.name = host.name + "-revocable-vcpu";
    ours.parent = host.id;
    host.nested.push_back(ours);
    return host.nested.back();
}

WantedRoom with_room(const std::string& host, Amount found, Amount used, Amount total) {
    WantedRoom made = wanted(host, total);
    Provider& ours = add_ours(made);
    ours.inventories.emplace(room_class, Inventory{.total = found});
    ours.used.set(room_class, used);
    return made;
}

InventoryStep plan_of(const WantedRoom& host, const std::vector<ProviderRecord>& providers = {}) {
    return inventory_plan({host}, providers, room_class).front();
}

TEST(InventoryPlan, AHostWithoutAProviderGetsOne) {
    const auto step = plan_of(wanted("h1", 8));
    EXPECT_EQ(step.kind, Kind::create_provider);
    EXPECT_EQ(step.host, HostId{"h1-uuid"});
    EXPECT_EQ(step.name, "h1-revocable-vcpu");
    EXPECT_EQ(step.to, 8);
    EXPECT_EQ(step.min_unit, 1);
}

TEST(InventoryPlan, AHostWithoutRoomGetsNone) {
    EXPECT_EQ(plan_of(wanted("h1", 0)).kind, Kind::keep);
    EXPECT_EQ(plan_of(wanted("h1", -4)).kind, Kind::keep);
    WantedRoom empty = wanted("h1", 0);
    add_ours(empty);
    EXPECT_EQ(plan_of(empty).kind, Kind::keep);
}

TEST(InventoryPlan, AnotherTotalIsSetAndTheSameIsKept) {
    auto step = plan_of(with_room("h1", 8, 3, 5));
    EXPECT_EQ(step.kind, Kind::set_total);
    EXPECT_EQ(step.provider, ProviderId{"h1-ours"});
    EXPECT_EQ(step.from, 8);
    EXPECT_EQ(step.to, 5);
    EXPECT_EQ(step.why, "");
    step = plan_of(with_room("h1", 8, 3, 8));
    EXPECT_EQ(step.kind, Kind::keep);
    WantedRoom first = wanted("h1", 4);
    add_ours(first);
    step = plan_of(first);
    EXPECT_EQ(step.kind, Kind::set_total);
    EXPECT_EQ(step.from, 0);
}

TEST(InventoryPlan, BelowWhatIsUsedItSaysSo) {
    const auto step = plan_of(with_room("h1", 8, 7, 5));
    EXPECT_EQ(step.kind, Kind::set_total);
    EXPECT_EQ(step.to, 5);
    EXPECT_EQ(step.why, "7 are in use: no new one until these are fewer");
}

TEST(InventoryPlan, AnUnusedInventoryIsRemoved) {
    const auto step = plan_of(with_room("h1", 8, 0, 0));
    EXPECT_EQ(step.kind, Kind::remove_inventory);
    EXPECT_EQ(step.from, 8);
    EXPECT_EQ(step.to, 0);
}

TEST(InventoryPlan, AnInventoryInUseIsClosedInstead) {
    const auto step = plan_of(with_room("h1", 8, 2, 0));
    EXPECT_EQ(step.kind, Kind::set_total);
    EXPECT_EQ(step.to, 1);
    EXPECT_EQ(step.min_unit, closed_min_unit);
}

TEST(InventoryPlan, AClosedOneAdmitsNoServerAndOpensAgain) {
    WantedRoom closing = with_room("h1", 1, 1, 1);
    closing.closed = true;
    const auto step = plan_of(closing);
    EXPECT_EQ(step.kind, Kind::set_total);
    EXPECT_EQ(step.min_unit, 2);
    Inventory& inventory = closing.nested.front().inventories.at(room_class);
    inventory.min_unit = step.min_unit;
    for (const Amount units : {1, 2, 3})
        EXPECT_FALSE(inventory.allows(units) && units <= inventory.capacity()) << units;
    EXPECT_EQ(published_room(inventory), 0);
    EXPECT_EQ(plan_of(closing).kind, Kind::keep);
    closing.closed = false;
    EXPECT_EQ(plan_of(closing).kind, Kind::set_total);
    EXPECT_EQ(plan_of(closing).min_unit, 1);
    EXPECT_EQ(published_room(Inventory{.total = 1}), 1);
    EXPECT_EQ(published_room(Inventory{.total = 7}), 7);
}

TEST(InventoryPlan, WhatOthersMadeIsNotTaken) {
    WantedRoom mixed = with_room("h1", 8, 0, 4);
    mixed.nested.front().inventories.emplace(ResourceClass{"VGPU"}, Inventory{.total = 1});
    EXPECT_EQ(plan_of(mixed).kind, Kind::refuse);
    EXPECT_EQ(plan_of(mixed).why, "it has an inventory of VGPU too");
}

TEST(InventoryPlan, AnAllocationRatioIsCorrected) {
    for (const Amount total : {4, 8}) {
        WantedRoom ratio = with_room("h1", 8, 0, total);
        EXPECT_EQ(plan_of(ratio).kind, total == 8 ? Kind::keep : Kind::set_total);
        ratio.nested.front().inventories.at(room_class).allocation_ratio = 2;
        EXPECT_EQ(plan_of(ratio).kind, Kind::set_total);
        EXPECT_EQ(plan_of(ratio).from, 8);
        EXPECT_EQ(plan_of(ratio).to, total);
    }
}

TEST(InventoryPlan, AProviderOfOurNameElsewhereIsRefused) {
    const ProviderRecord elsewhere{ProviderId{"x"}, "h1-revocable-vcpu", ProviderId{"h2-uuid"},
                                   ProviderId{"h2-uuid"}};
    auto step = plan_of(wanted("h1", 4), {elsewhere});
    EXPECT_EQ(step.kind, Kind::refuse);
    EXPECT_EQ(step.why, "there is a provider of that name elsewhere: x");
    ProviderRecord unread = elsewhere;
    unread.parent = HostId{"h1-uuid"};
    step = plan_of(wanted("h1", 4), {unread});
    EXPECT_EQ(step.kind, Kind::refuse);
    EXPECT_THAT(step.why, HasSubstr("has not been read yet"));
    EXPECT_EQ(plan_of(wanted("h1", 0), {elsewhere}).kind, Kind::keep);
}

TEST(InventoryPlan, ANestedProviderDeeperInTheTreeIsNotOurs) {
    WantedRoom deep = with_room("h1", 8, 0, 4);
    deep.nested.front().parent = ProviderId{"h1-numa0"};
    EXPECT_EQ(plan_of(deep).kind, Kind::create_provider);
}

TEST(InventoryPlan, OfTwoHostsWithOneNameTheSecondIsRefused) {
    WantedRoom twin = wanted("h1", 4);
    twin.id = HostId{"other-uuid"};
    const auto steps = inventory_plan({wanted("h1", 4), twin, wanted("h2", 1)}, {}, room_class);
    ASSERT_EQ(steps.size(), 3U);
    EXPECT_EQ(steps[0].kind, Kind::create_provider);
    EXPECT_EQ(steps[1].kind, Kind::refuse);
    EXPECT_EQ(steps[1].why, "another host has the same name");
    EXPECT_EQ(steps[2].kind, Kind::create_provider);
}

TEST(InventoryPlan, WhatIsDoneIsKept) {
    for (const Amount total : {0, 1, 5}) {
        WantedRoom host = wanted("h1", total);
        Provider& ours = add_ours(host);
        const auto step = plan_of(host);
        if (step.kind == Kind::set_total)
            ours.inventories[room_class] = Inventory{.total = step.to, .min_unit = step.min_unit};
        EXPECT_EQ(plan_of(host).kind, Kind::keep) << total;
    }
}

}  // namespace
}  // namespace reaper::inventory_plan_test

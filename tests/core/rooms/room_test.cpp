// What is free on a host: nested providers, units, evictions and promises.
#include "reaper/rooms/room.hpp"

#include <gtest/gtest.h>
#include <limits>

#include "core/cloud_builder.hpp"

namespace reaper::room_test {
namespace {

using namespace reaper::testing;

const RequestId mine{"req-mine"};

Amount slots_on(const Host& host, const Resources& slot, const Ledger& ledger = {}) {
    const Shape shape = shape_of(slot);
    const HostRoom room = room_on(host, shape, ledger, mine);
    return room.slots(shape, room.room_now());
}

/// A ledger in which `request` evicts `victims` of `host` and has `slots` promised there.
Ledger ledger_with(const std::string& id, const Host& host, const Resources& slot, int slots,
                   const std::vector<std::string>& victims) {
    Plan plan;
    HostPlan on_host;
    on_host.host = host.id;
    on_host.slots = slots;
    for (const auto& victim : victims) {
        Victim entry;
        entry.server = ServerId{victim};
        on_host.victims.push_back(entry);
    }
    plan.hosts = {on_host};
    Ledger ledger;
    ledger.enter(request(slot, slots, id), plan, at(0));
    return ledger;
}

TEST(Room, ScarcestClassDecides) {
    Host a = host("a", {{"VCPU", 8}, {"MEMORY_MB", 4096}});
    EXPECT_EQ(slots_on(a, {{"VCPU", 2}, {"MEMORY_MB", 2048}}), 2);
    EXPECT_EQ(slots_on(a, {{"VCPU", 8}}), 1);
    EXPECT_EQ(slots_on(a, {{"VCPU", 9}}), 0);
}

TEST(Room, ReservedAndRatioCount) {
    Host a = host("a", {});
    a.providers[0].inventories[ResourceClass{"VCPU"}] =
        Inventory{.total = 10, .reserved = 2, .allocation_ratio = 1.5};
    EXPECT_EQ(slots_on(a, {{"VCPU", 1}}), 12);
}

TEST(Room, PlacementsSearchesKnowARatioInSinglePrecision) {
    const Inventory below{.total = 80, .allocation_ratio = 1.4};
    EXPECT_EQ(below.capacity(), 111);
    EXPECT_EQ(below.shown_capacity(), 112);
    const Inventory above{.total = 10, .allocation_ratio = 1.1};
    EXPECT_EQ(above.capacity(), 11);
    const Inventory huge{.total = 1, .allocation_ratio = 1e308};
    EXPECT_EQ(huge.capacity(), huge.shown_capacity());
}

TEST(Room, OverfullHostHasNoSlotAndNegativeRoom) {
    Host a = host("a", {{"VCPU", 4}});
    a.providers[0].used = Resources{{"VCPU", 6}};
    const Shape shape = shape_of({{"VCPU", 1}});
    const HostRoom room = room_on(a, shape, {}, mine);
    EXPECT_EQ(room.room_now()[0], -2);
    EXPECT_EQ(room.slots(shape, room.room_now()), 0);
}

TEST(Room, ASlotTakesAClassFromOneProvider) {
    Host a = host("a", {{"MEMORY_MB", 8192}});
    nest(a, "numa0", {{"VCPU", 3}});
    nest(a, "numa1", {{"VCPU", 3}});
    EXPECT_EQ(slots_on(a, {{"VCPU", 4}, {"MEMORY_MB", 1024}}), 0) << "3 + 3 is no 4";
    EXPECT_EQ(slots_on(a, {{"VCPU", 2}, {"MEMORY_MB", 1024}}), 2);
    EXPECT_EQ(slots_on(a, {{"VCPU", 1}, {"MEMORY_MB", 1024}}), 6);
}

TEST(Room, ProvidersWhoseUnitsRefuseTheAmountAreLeftOut) {
    Host a = host("a", {{"VCPU", 4}});
    nest(a, "numa0", {{"VCPU", 4}}).inventories[ResourceClass{"VCPU"}].max_unit = 1;
    EXPECT_EQ(slots_on(a, {{"VCPU", 2}}), 2);
    EXPECT_EQ(slots_on(a, {{"VCPU", 1}}), 8);
}

TEST(Room, EvictionUnderWayKeepsTheRoomTheSameFromListedToGone) {
    const Resources slot{{"VCPU", 2}};
    Host listed = host("a", {{"VCPU", 4}});
    put(listed, revocable("v", listed.id, slot));
    put(listed, server("r", listed.id, slot));
    Ledger ledger = ledger_with(mine.str(), listed, slot, 1, {"v"});
    EXPECT_EQ(slots_on(listed, slot, ledger), 1);

    // Nova lists it no more, Placement still does.
    Host half_gone = listed;
    std::erase_if(half_gone.servers, [](const Server& s) { return s.id == ServerId{"v"}; });
    half_gone.providers[0].other_consumers.emplace(ServerId{"v"}, slot);
    EXPECT_EQ(slots_on(half_gone, slot, ledger), 1);

    // Placement lists it no more, Nova still does.
    Host other_half = listed;
    other_half.servers[0].allocations = {};
    other_half.providers[0].used -= slot;
    EXPECT_EQ(slots_on(other_half, slot, ledger), 1);

    Host gone = host("a", {{"VCPU", 4}});
    put(gone, server("r", gone.id, slot));
    EXPECT_EQ(slots_on(gone, slot, ledger), 1);
    ledger.drop_eviction(ServerId{"v"});
    EXPECT_EQ(slots_on(gone, slot, ledger), 1);
}

TEST(Room, Rule4PromiseToAnotherIsTakenOffTheOnlyProvider) {
    Host a = host("a", {{"VCPU", 8}});
    const Ledger ledger = ledger_with("req-other", a, {{"VCPU", 3}}, 2, {});
    EXPECT_EQ(slots_on(a, {{"VCPU", 2}}, ledger), 1);
    EXPECT_EQ(slots_on(a, {{"VCPU", 2}}), 4);
}

TEST(Room, Rule4PromiseThatMayLandOnAnyProviderCostsAtWorst) {
    Host a = host("a", {});
    nest(a, "numa0", {{"VCPU", 4}});
    nest(a, "numa1", {{"VCPU", 4}});
    // One promised slot of 1 VCPU takes, wherever it lands, one of the two slots of 4.
    const Ledger one = ledger_with("req-other", a, {{"VCPU", 1}}, 1, {});
    EXPECT_EQ(slots_on(a, {{"VCPU", 4}}, one), 1);
    const Ledger two = ledger_with("req-other", a, {{"VCPU", 1}}, 2, {});
    EXPECT_EQ(slots_on(a, {{"VCPU", 4}}, two), 0);
}

TEST(Room, AbsurdAmountsDoNotOverflow) {
    constexpr Amount most = std::numeric_limits<Amount>::max();
    Host a = host("a", {{"VCPU", most}});
    a.providers[0].used = Resources{{"VCPU", -most}};
    put(a, revocable("v", a.id, {{"VCPU", most}}));
    EXPECT_GE(slots_on(a, {{"VCPU", 1}}), 0);
    EXPECT_EQ(slots_on(a, {{"VCPU", most}}), 0);
    EXPECT_FALSE(
        std::holds_alternative<Plan>(plan(request({{"VCPU", most}}, 5), Snapshot{at(0), {a}, {}})));
}

TEST(Room, MissingTellsWhatLacks) {
    Host a = host("a", {{"VCPU", 3}, {"MEMORY_MB", 1024}});
    const Shape shape = shape_of({{"VCPU", 2}, {"MEMORY_MB", 1024}});
    const HostRoom room = room_on(a, shape, {}, mine);
    const auto lacking = room.missing(shape, room.room_now(), 2);
    EXPECT_EQ(named(shape, lacking), (Resources{{"VCPU", 1}, {"MEMORY_MB", 1024}}));
}

}  // namespace
}  // namespace reaper::room_test

// Each reason for which a host can't take a request: one row.
#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/cloud_builder.hpp"

namespace reaper::filter_test {
namespace {

using namespace reaper::testing;
using ::testing::HasSubstr;

const Resources whole{{"VCPU", 8}, {"MEMORY_MB", 8192}, {"DISK_GB", 100}};
const Resources slot{{"VCPU", 4}, {"MEMORY_MB", 2048}, {"DISK_GB", 20}};

struct Row {
    const char* name;
    std::function<void(Host&, Request&)> change;
    RejectionCode code;
    const char* reason;  ///< part of it
};

void set_inventory(Host& host, const char* name, const Inventory& inventory) {
    host.providers[0].inventories[ResourceClass{name}] = inventory;
}

class Filter : public ::testing::TestWithParam<Row> {};

TEST_P(Filter, RejectsWithItsReason) {
    Host only = host("only", whole);
    put(only, revocable("v", only.id, whole));
    Request wanted = request(slot);
    // Without the change the host is fine: the row tests its own change.
    ASSERT_TRUE(std::holds_alternative<Plan>(plan(wanted, Snapshot{at(0), {only}, {}})));
    GetParam().change(only, wanted);
    const auto decision = plan(wanted, Snapshot{at(0), {only}, {}});
    ASSERT_TRUE(std::holds_alternative<NotEnough>(decision)) << summary(decision);
    const auto rejection = rejection_of(decision, "only");
    EXPECT_EQ(to_string(rejection.code), to_string(GetParam().code));
    EXPECT_THAT(rejection.reason, HasSubstr(GetParam().reason));
}

INSTANTIATE_TEST_SUITE_P(
    Hosts, Filter,
    ::testing::Values(
        Row{"Down", [](Host& h, Request&) { h.up = false; }, RejectionCode::down,
            "nova-compute is down"},
        Row{"Disabled",
            [](Host& h, Request&) {
                h.enabled = false;
                h.why_unavailable = "new disks";
            },
            RejectionCode::disabled, "nova-compute is disabled: new disks"},
        Row{"DisabledInPlacement",
            [](Host& h, Request&) { h.providers[0].traits.emplace("COMPUTE_STATUS_DISABLED"); },
            RejectionCode::disabled, "COMPUTE_STATUS_DISABLED"},
        Row{"WrongZone", [](Host&, Request& r) { r.availability_zone = "az1"; },
            RejectionCode::wrong_availability_zone, "'nova', the request wants 'az1'"},
        Row{"Excluded",
            [](Host&, Request& r) { r.excluded_hosts.emplace("only", "it leaves that host"); },
            RejectionCode::excluded, "it leaves that host"},
        Row{"MissingTraitOfTheHostItself",
            [](Host& h, Request& r) {
                nest(h, "child", {{"VGPU", 1}}).traits.emplace("CUSTOM_OWN");
                r.root_required_traits.emplace("CUSTOM_OWN");
            },
            RejectionCode::missing_trait, "lacks the required trait CUSTOM_OWN itself"},
        Row{"MissingTrait", [](Host&, Request& r) { r.required_traits.emplace("CUSTOM_SSD"); },
            RejectionCode::missing_trait, "CUSTOM_SSD"},
        Row{"ForbiddenTrait",
            [](Host& h, Request& r) {
                h.providers[0].traits.emplace("CUSTOM_OLD");
                r.forbidden_traits.emplace("CUSTOM_OLD");
            },
            RejectionCode::forbidden_trait, "CUSTOM_OLD"},
        Row{"NoSuchClass", [](Host&, Request& r) { r.resources.set(ResourceClass{"VGPU"}, 1); },
            RejectionCode::no_such_class, "it offers no VGPU"},
        Row{"BelowMinUnit",
            [](Host& h, Request&) {
                set_inventory(h, "VCPU", Inventory{.total = 8, .min_unit = 5});
            },
            RejectionCode::unit_limits, "its units refuse VCPU=4 (min_unit 5"},
        Row{"AboveMaxUnit",
            [](Host& h, Request&) {
                set_inventory(h, "VCPU", Inventory{.total = 8, .max_unit = 3});
            },
            RejectionCode::unit_limits, "max_unit 3"},
        Row{"OffStepSize",
            [](Host& h, Request&) {
                set_inventory(h, "MEMORY_MB", Inventory{.total = 8192, .step_size = 3});
            },
            RejectionCode::unit_limits, "step_size 3"},
        Row{"TooSmallEmpty",
            [](Host& h, Request&) { set_inventory(h, "MEMORY_MB", Inventory{.total = 1024}); },
            RejectionCode::not_enough_capacity,
            "too small even when empty: MEMORY_MB=1024 of the 2048"},
        Row{"RatioMakesItTooSmall",
            [](Host& h, Request&) {
                set_inventory(h, "VCPU", Inventory{.total = 8, .allocation_ratio = 0.4});
            },
            RejectionCode::not_enough_capacity, "VCPU=3 of the 4"},
        Row{"RegularServersFillIt",
            [](Host& h, Request&) {
                h.servers.clear();
                h.providers[0].used = {};
                put(h, server("regular", h.id, {{"MEMORY_MB", 7168}}));
                for (const auto* id : {"x", "y", "z"}) put(h, revocable(id, h.id, {{"VCPU", 1}}));
            },
            RejectionCode::not_enough_revocable,
            "1024 MEMORY_MB short even if its 3 revocable servers were deleted"},
        Row{"NoRevocableServer", [](Host& h, Request&) { h.servers[0].revocable_because.reset(); },
            RejectionCode::not_enough_revocable,
            "4 VCPU, 2048 MEMORY_MB, 20 DISK_GB short, and no revocable server that may be "
            "deleted"},
        Row{"Moving", [](Host& h, Request&) { h.servers[0].task_state = "resize_prep"; },
            RejectionCode::not_enough_revocable,
            "1 revocable server can't be deleted: it is between two hosts"},
        Row{"NotOfTheLoan", [](Host&, Request& r) { r.victims_among = {ServerId{"another"}}; },
            RejectionCode::not_enough_revocable,
            "1 revocable server can't be deleted: it is not of this loan"}),
    [](const auto& row) { return row.param.name; });

/// A node as Nova's Ironic driver shows it while it has a server: all of it is reserved.
Host bare_metal_in_use() {
    Host node = host("node", {{"CUSTOM_BAREMETAL", 1}});
    set_inventory(node, "CUSTOM_BAREMETAL", Inventory{.total = 1, .reserved = 1, .max_unit = 1});
    put(node, revocable("v", node.id, {{"CUSTOM_BAREMETAL", 1}}));
    return node;
}

TEST(Filters, BareMetalThatIsReservedForItsUseComesFreeWithItsServer) {
    const Request wanted = request({{"CUSTOM_BAREMETAL", 1}});
    EXPECT_THAT(victim_ids(plan(wanted, Snapshot{at(0), {bare_metal_in_use()}, {}})),
                ::testing::ElementsAre("v"));
}

TEST(Filters, BareMetalThatIsReservedWithoutAServerHasNoRoom) {
    Host node = bare_metal_in_use();
    node.servers.clear();
    node.providers[0].used = {};
    const auto none = plan(request({{"CUSTOM_BAREMETAL", 1}}), Snapshot{at(0), {node}, {}});
    EXPECT_EQ(rejection_of(none, "node").code, RejectionCode::not_enough_capacity);
}

TEST(Filters, WhatAnOperatorReservesOnAHypervisorStaysReserved) {
    Host full = host("full", {{"VCPU", 8}, {"CUSTOM_LICENSE", 1}});
    set_inventory(full, "CUSTOM_LICENSE", Inventory{.total = 1, .reserved = 1, .max_unit = 1});
    put(full, revocable("v", full.id, {{"VCPU", 8}, {"CUSTOM_LICENSE", 1}}));
    const auto none =
        plan(request({{"VCPU", 1}, {"CUSTOM_LICENSE", 1}}), Snapshot{at(0), {full}, {}});
    EXPECT_EQ(rejection_of(none, "full").code, RejectionCode::not_enough_capacity);
}

TEST(Filters, AOneTimeUseDeviceDoesNotComeFree) {
    Host only = host("only", whole);
    auto& device = nest(only, "device", {{"CUSTOM_PCI_NVME", 1}});
    device.traits.emplace("HW_PCI_ONE_TIME_USE");
    Server holder = revocable("v", only.id, whole);
    holder.allocations.insert_or_assign(device.id, Resources{{"CUSTOM_PCI_NVME", 1}});
    put(only, holder);  // Nova has not reserved the device yet
    const auto none =
        plan(request({{"VCPU", 1}, {"CUSTOM_PCI_NVME", 1}}), Snapshot{at(0), {only}, {}});
    EXPECT_EQ(rejection_of(none, "only").code, RejectionCode::not_enough_capacity);
}

TEST(Filters, TraitsAreThoseOfTheProvidersThatGiveSomething) {
    Host only = host("only", whole);
    put(only, revocable("v", only.id, whole));
    nest(only, "numa0", {}).traits.emplace("CUSTOM_SSD");
    Request wanted = request(slot);
    wanted.required_traits.emplace("CUSTOM_SSD");
    const auto none = plan(wanted, Snapshot{at(0), {only}, {}});
    EXPECT_TRUE(std::holds_alternative<NotEnough>(none)) << "Placement would offer nothing";
    only.providers[1].inventories.emplace(ResourceClass{"DISK_GB"}, Inventory{.total = 100});
    EXPECT_TRUE(std::holds_alternative<Plan>(plan(wanted, Snapshot{at(0), {only}, {}})));
    wanted.required_traits.clear();
    wanted.forbidden_traits.emplace("CUSTOM_SSD");
    EXPECT_TRUE(std::holds_alternative<Plan>(plan(wanted, Snapshot{at(0), {only}, {}})));
}

TEST(Filters, UnitLimitsJustMetAreFine) {
    Host only = host("only", whole);
    put(only, revocable("v", only.id, whole));
    set_inventory(only, "VCPU",
                  Inventory{.total = 8, .min_unit = 4, .max_unit = 4, .step_size = 2});
    EXPECT_TRUE(std::holds_alternative<Plan>(plan(request(slot), Snapshot{at(0), {only}, {}})));
}

}  // namespace
}  // namespace reaper::filter_test

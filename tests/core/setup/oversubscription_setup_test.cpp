#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reaper/setup/oversubscription.hpp"

namespace reaper::oversubscription_setup_test {
namespace {

using Kind = SlotStep::Kind;
using ::testing::HasSubstr;

const ResourceClass room{"CUSTOM_REVOCABLE_VCPU"};

/// Two hosts, nothing set up; a flavor of a user.
RoomView empty_cloud() {
    RoomView view;
    for (const char* name : {"h1", "h2"}) {
        const HostId id{std::string{name} + "-uuid"};
        view.slots.hosts.push_back({id, name, {}});
        view.slots.providers.push_back({id, name, {}, id});
    }
    Flavor& other = view.flavors["f-0"];
    other.name = "m1.small";
    other.vcpus = 1;
    other.memory_mb = 2048;
    other.root_gb = 10;
    return view;
}

/// As it is after the set-up.
RoomView set_up_cloud() {
    RoomView view = empty_cloud();
    view.slots.class_exists = true;
    for (const char* name : {"h1", "h2"}) {
        const ProviderId root{std::string{name} + "-uuid"};
        const ProviderId nested{std::string{name} + "-room"};
        view.slots.providers.push_back({nested, std::string{name} + "-revocable-vcpu", root, root});
        view.slots.states[nested];
    }
    int number = 1;
    for (const auto& flavor : example_flavors(room))
        view.flavors["f-" + std::to_string(number++)] = flavor;
    return view;
}

std::vector<Kind> kinds(const std::vector<SlotStep>& steps) {
    std::vector<Kind> all;
    for (const auto& step : steps) all.push_back(step.kind);
    return all;
}

TEST(ExampleFlavors, TakeRoomInPlaceOfVcpu) {
    const auto flavors = example_flavors(room);
    ASSERT_EQ(flavors.size(), 2U);
    EXPECT_EQ(flavors[1].name, "revocable.medium");
    EXPECT_EQ(flavors[1].vcpus, 2);
    EXPECT_EQ(flavors[1].extra_specs,
              (std::map<std::string, std::string>{
                  {"resources:VCPU", "0"}, {"resources_revocable:CUSTOM_REVOCABLE_VCPU", "2"}}));
    EXPECT_TRUE(asks_for(flavors[1], room));
    EXPECT_FALSE(asks_for(flavors[1], ResourceClass{"VCPU"})) << "none of it";
    EXPECT_FALSE(asks_for(flavors[1], ResourceClass{"REVOCABLE_VCPU"}));
}

TEST(RoomSetup, AnEmptyCloudGetsAllOfIt) {
    const auto steps = room_to_set_up(empty_cloud(), room);
    ASSERT_EQ(kinds(steps),
              (std::vector{Kind::create_class, Kind::create_provider, Kind::create_provider,
                           Kind::create_flavor, Kind::create_flavor}));
    EXPECT_EQ(steps[1].name, "h1-revocable-vcpu");
    EXPECT_EQ(steps[1].root, HostId{"h1-uuid"});
    EXPECT_EQ(steps[1].to, 0) << "no inventory until room is published";
    EXPECT_EQ(steps[3].name, "revocable.small");
}

TEST(RoomSetup, ASecondTimeChangesNothing) {
    RoomView view = set_up_cloud();
    view.slots.states[ProviderId{"h2-room"}].inventories[room] = Inventory{.total = 6};
    const auto steps = room_to_set_up(view, room);
    EXPECT_EQ(kinds(steps), std::vector<Kind>(5, Kind::keep));
    EXPECT_EQ(steps[1].from, 0);
    EXPECT_EQ(steps[2].from, 6) << "what is published stays";
    EXPECT_EQ(steps[3].flavor, "f-1");
}

TEST(RoomSetup, OthersThingsAreLeftAlone) {
    RoomView view = empty_cloud();
    view.slots.providers.push_back(
        {ProviderId{"x"}, "h1-revocable-vcpu", ProviderId{"other"}, ProviderId{"other"}});
    view.flavors["f-9"] = example_flavors(room)[0];
    view.flavors["f-9"].memory_mb += 1;
    view.flavors["f-8"] = example_flavors(room)[1];
    view.flavors["f-8"].extra_specs.clear();
    const auto steps = room_to_set_up(view, room);
    ASSERT_EQ(kinds(steps), (std::vector{Kind::create_class, Kind::refuse, Kind::create_provider,
                                         Kind::refuse, Kind::refuse}));
    EXPECT_THAT(steps[1].why, HasSubstr("elsewhere"));
    EXPECT_THAT(steps[3].why, HasSubstr("f-9"));
    EXPECT_THAT(steps[4].why, HasSubstr("f-8")) << "without the properties it is another one";
}

TEST(RoomUndo, TakesAwayWhatIsOursAndUnused) {
    const auto steps = room_to_undo(set_up_cloud(), room);
    ASSERT_EQ(kinds(steps),
              (std::vector{Kind::remove_flavor, Kind::remove_flavor, Kind::remove_provider,
                           Kind::remove_provider, Kind::remove_class}));
    EXPECT_EQ(steps[0].flavor, "f-1");
    EXPECT_EQ(steps[2].provider, ProviderId{"h1-room"});
}

/// As the manual says: so that regular servers go first.
TEST(RoomSetup, AQuotaOfAFlavorDoesNotChangeTheSetup) {
    RoomView view = set_up_cloud();
    view.flavors["f-1"].extra_specs["quota:cpu_shares"] = "2";
    EXPECT_EQ(kinds(room_to_set_up(view, room)), std::vector<Kind>(5, Kind::keep));
    EXPECT_EQ(kinds(room_to_undo(view, room)),
              (std::vector{Kind::remove_flavor, Kind::remove_flavor, Kind::remove_provider,
                           Kind::remove_provider, Kind::remove_class}));
}

TEST(RoomUndo, WhatIsUsedOrChangedStays) {
    RoomView view = set_up_cloud();
    view.in_use = {"revocable.small"};
    view.flavors["f-2"].extra_specs["hw:cpu_policy"] = "shared";
    view.slots.states[ProviderId{"h1-room"}].allocations[ServerId{"s"}] =
        Resources{{"CUSTOM_REVOCABLE_VCPU", 1}};
    const auto steps = room_to_undo(view, room);
    ASSERT_EQ(kinds(steps), (std::vector{Kind::refuse, Kind::refuse, Kind::refuse,
                                         Kind::remove_provider, Kind::refuse}));
    EXPECT_THAT(steps[0].why, HasSubstr("servers have it"));
    EXPECT_THAT(steps[1].why, HasSubstr("numbers or properties differ"));
}

TEST(RoomUndo, NothingThereIsNothingToDo) {
    EXPECT_EQ(kinds(room_to_undo(empty_cloud(), room)), std::vector{Kind::keep});
}

}  // namespace
}  // namespace reaper::oversubscription_setup_test

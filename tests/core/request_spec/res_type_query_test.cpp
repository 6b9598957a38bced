// Traits of res-type in a query to Placement, and the query for revocable room.
#include "reaper/request_spec/res_type_query.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reaper/request_spec/placement_query.hpp"

namespace reaper::res_type_query_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const ResourceClass oversold{"CUSTOM_REVOCABLE_VCPU"};
const ResourceClass slot{"CUSTOM_PREEMPTIBLE"};

PlacementQuery query_of(std::initializer_list<std::pair<std::string, std::string>> parameters) {
    return parameters;
}

std::string text_of(const PlacementQuery& query) {
    std::string text;
    for (const auto& [name, value] : query) text += (text.empty() ? "" : "&") + name + "=" + value;
    return text;
}

std::string as_revocable(const PlacementQuery& query, const ResourceClass& offered = oversold) {
    const auto made = as_revocable_query(query, offered);
    return made ? text_of(*made) : "none";
}

TEST(ResTypeQuery, TheTraitsAreTakenOut) {
    const auto taken = take_res_type(
        query_of({{"limit", "1000"},
                  {"required", "HW_CPU_X86_AVX2,CUSTOM_RES_TYPE_PREFER_REGULAR,!CUSTOM_B"},
                  {"root_required", "CUSTOM_RES_TYPE_PREFER_REGULAR,!COMPUTE_STATUS_DISABLED"},
                  {"resources", "VCPU:2"}}));
    EXPECT_EQ(text_of(taken.rest),
              "limit=1000&required=HW_CPU_X86_AVX2,!CUSTOM_B&"
              "root_required=!COMPUTE_STATUS_DISABLED&resources=VCPU:2");
    EXPECT_THAT(taken.constraints, ElementsAre("~regular")) << "each once";
}

TEST(ResTypeQuery, AParameterThatSaysNothingElseGoes) {
    const auto taken =
        take_res_type(query_of({{"required", "CUSTOM_RES_TYPE_ANY"}, {"resources", "VCPU:2"}}));
    EXPECT_EQ(text_of(taken.rest), "resources=VCPU:2");
    EXPECT_EQ(phases_of(taken.constraints).value(), (Phases{ResType::regular, true}));
}

TEST(ResTypeQuery, EachTraitIsAConstraint) {
    const auto said = [](const std::string& traits) {
        const auto phases = phases_of(take_res_type(query_of({{"required", traits}})).constraints);
        return phases ? to_string(*phases) : phases.error().what;
    };
    EXPECT_EQ(said("CUSTOM_RES_TYPE_REGULAR"), "regular");
    EXPECT_EQ(said("CUSTOM_RES_TYPE_PREFER_REGULAR"), "~regular");
    EXPECT_EQ(said("CUSTOM_RES_TYPE_REVOCABLE"), "revocable");
    EXPECT_EQ(said("CUSTOM_RES_TYPE_PREFER_REVOCABLE"), "~revocable");
    EXPECT_EQ(said("!CUSTOM_RES_TYPE_REVOCABLE"), "regular");
    EXPECT_EQ(said("!CUSTOM_RES_TYPE_PREFER_REGULAR"), "~revocable");
    EXPECT_THAT(said("!CUSTOM_RES_TYPE_ANY"), ::testing::HasSubstr("leaves no kind of room"));
    EXPECT_THAT(said("CUSTOM_RES_TYPE_REGULAR,CUSTOM_RES_TYPE_REVOCABLE"),
                ::testing::HasSubstr("one constraint at most"));
}

TEST(ResTypeQuery, WhatIsNotOursStays) {
    const auto query = query_of({{"required", "CUSTOM_RES_TYPE_GOLD"}, {"resources", "VCPU:2"}});
    const auto taken = take_res_type(query);
    EXPECT_EQ(taken.rest, query);
    EXPECT_THAT(taken.constraints, IsEmpty());
}

TEST(ResTypeQuery, OversubscribedRoomTakesThePlaceOfWhatItStandsFor) {
    EXPECT_EQ(as_revocable(query_of({{"limit", "1000"},
                                     {"resources", "DISK_GB:20,MEMORY_MB:2048,VCPU:2"},
                                     {"in_tree", "host"}})),
              "limit=1000&resources=DISK_GB:20,MEMORY_MB:2048&in_tree=host&"
              "resources_revocable=CUSTOM_REVOCABLE_VCPU:2");
}

TEST(ResTypeQuery, AnotherRevocableClassComesOnTop) {
    EXPECT_EQ(as_revocable(query_of({{"resources", "MEMORY_MB:2048,VCPU:2"}}), slot),
              "resources=MEMORY_MB:2048,VCPU:2&resources_revocable=CUSTOM_PREEMPTIBLE:1");
    const auto asked = query_of({{"resources", "VCPU:2"}, {"resources1", "CUSTOM_PREEMPTIBLE:1"}});
    EXPECT_EQ(as_revocable(asked, slot), text_of(asked)) << "it has it already";
}

TEST(ResTypeQuery, AGroupKeepsItsPlace) {
    EXPECT_EQ(as_revocable(query_of({{"resources", "MEMORY_MB:2048"}, {"resources1", "VCPU:2"}})),
              "resources=MEMORY_MB:2048&resources1=CUSTOM_REVOCABLE_VCPU:2");
}

TEST(ResTypeQuery, BesideAnotherGroupAPolicyIsNeeded) {
    EXPECT_EQ(as_revocable(query_of(
                  {{"resources", "MEMORY_MB:2048,VCPU:2"}, {"resources_revocable", "VGPU:1"}})),
              "resources=MEMORY_MB:2048&resources_revocable=VGPU:1&"
              "resources_revocable_=CUSTOM_REVOCABLE_VCPU:2&group_policy=none");
    EXPECT_EQ(as_revocable(query_of({{"resources", "MEMORY_MB:2048,VCPU:2"},
                                     {"resources1", "VGPU:1"},
                                     {"group_policy", "isolate"}})),
              "resources=MEMORY_MB:2048&resources1=VGPU:1&group_policy=isolate&"
              "resources_revocable=CUSTOM_REVOCABLE_VCPU:2");
}

TEST(ResTypeQuery, WithNothingLeftForTheHostThereIsNoSuchQuery) {
    EXPECT_EQ(as_revocable(query_of({{"resources", "VCPU:2"}})), "none");
}

TEST(ResTypeQuery, IsReadWithTheRest) {
    const auto read = read_candidates_query(
        query_of({{"required", "CUSTOM_A,CUSTOM_RES_TYPE_REVOCABLE"}, {"resources", "VCPU:2"}}));
    ASSERT_TRUE(read) << read.error().what;
    EXPECT_THAT(read->shape.required_traits, ElementsAre(Trait{"CUSTOM_A"}));
    EXPECT_THAT(read->res_type, ElementsAre("revocable"));
}

}  // namespace
}  // namespace reaper::res_type_query_test

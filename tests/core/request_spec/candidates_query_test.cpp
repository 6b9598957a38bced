// What a client of Placement asked for. All of Nova's recorded queries are read in
// tests/app/cloud_reader/placement_queries_test.cpp.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reaper/request_spec/placement_query.hpp"

namespace reaper::candidates_query_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const PlacementQuery plain{{"limit", "1000"},
                           {"resources", "DISK_GB:20,MEMORY_MB:2048,VCPU:2"},
                           {"root_required", "!COMPUTE_STATUS_DISABLED"}};

PlacementQuery with(std::string name, std::string value) {
    PlacementQuery query = plain;
    query.emplace_back(std::move(name), std::move(value));
    return query;
}

std::string why_not(const PlacementQuery& query) {
    const auto read = read_candidates_query(query);
    return read ? "" : read.error().what;
}

TEST(CandidatesQuery, AllPartsAreRead) {
    PlacementQuery query = with("required", "CUSTOM_A,!CUSTOM_B");
    query.insert(query.end(), {{"member_of", "in:one,two"},
                               {"member_of", "three"},
                               {"member_of", "!in:four,five"},
                               {"in_tree", "host"},
                               {"resources1", "VGPU:1"},
                               {"required1", "!CUSTOM_C"},
                               {"member_of1", "six"},
                               {"in_tree1", "other"},
                               {"resources2", "VGPU:2"},
                               {"group_policy", "isolate"}});
    const auto read = read_candidates_query(query);
    ASSERT_TRUE(read) << read.error().what;
    EXPECT_EQ(read->shape.resources,
              (Resources{{"DISK_GB", 20}, {"MEMORY_MB", 2048}, {"VCPU", 2}, {"VGPU", 3}}));
    EXPECT_THAT(read->shape.required_traits, ElementsAre(Trait{"CUSTOM_A"}));
    EXPECT_THAT(read->shape.forbidden_traits, ElementsAre(Trait{"CUSTOM_B"}));
    EXPECT_THAT(read->aggregates, ElementsAre(ElementsAre("one", "two"), ElementsAre("three")));
    EXPECT_THAT(read->forbidden_aggregates, ElementsAre("five", "four"));
    EXPECT_EQ(read->in_tree, ProviderId{"host"});
    ASSERT_EQ(read->groups.size(), 2U);
    EXPECT_EQ(read->groups[0].suffix, "1");
    EXPECT_EQ(read->groups[0].in_tree, ProviderId{"other"});
    EXPECT_THAT(read->groups[0].aggregates, ElementsAre(ElementsAre("six")));
    EXPECT_EQ(read->groups[1].resources, (Resources{{"VGPU", 2}}));
    EXPECT_EQ(read->group_policy, GroupPolicy::isolate);
    EXPECT_TRUE(read->root_required_traits.empty());
}

TEST(CandidatesQuery, WhatThePlannerDoesNotKnowIsRefused) {
    EXPECT_THAT(why_not(with("same_subtree", "1,2")), HasSubstr("same_subtree"));
    EXPECT_THAT(why_not(with("required", "in:A,B")), HasSubstr("one of several traits"));
    EXPECT_THAT(why_not(with("required1", "A")), HasSubstr("without resources"));
    EXPECT_THAT(why_not(with("group_policy", "some")), HasSubstr("group_policy"));
    EXPECT_THAT(why_not(with("member_of1", "!in:A")), HasSubstr("outside"));
    EXPECT_THAT(why_not({{"root_required", "!OTHER"}, {"resources", "VCPU:1"}}),
                HasSubstr("forbidden to the root"));
    EXPECT_THAT(why_not({{"limit", "1"}}), HasSubstr("no resources"));
    for (const char* wrong : {"", "VCPU", "VCPU:", "VCPU:0", "VCPU:-1", "VCPU:1x", ":1",
                              "VCPU:1,VCPU:2", "VCPU:99999999999999999999"})
        EXPECT_NE(why_not({{"resources", wrong}}), "") << wrong;
}

Request of(Resources resources) {
    Request request;
    request.resources = std::move(resources);
    return request;
}

TEST(CandidatesQuery, ARequestIsKnownByItsShapeOrItsFallback) {
    Request request = of({{"PCPU", 2}, {"MEMORY_MB", 512}});
    request.fallback = SlotShape{{{"VCPU", 2}, {"MEMORY_MB", 512}}, {}, {}};
    const auto read = [](const char* resources) {
        return *read_candidates_query({{"resources", resources}});
    };
    EXPECT_EQ(asked_as(request, read("MEMORY_MB:512,PCPU:2")), AskedAs::itself);
    EXPECT_EQ(asked_as(request, read("MEMORY_MB:512,VCPU:2")), AskedAs::fallback);
    EXPECT_EQ(asked_as(request, read("MEMORY_MB:512,VCPU:3")), AskedAs::other);
    CandidatesQuery other = read("MEMORY_MB:512,PCPU:2");
    other.shape.required_traits = {Trait{"CUSTOM_A"}};
    EXPECT_EQ(asked_as(request, other), AskedAs::other);
    EXPECT_TRUE(as_asked(request, read("MEMORY_MB:512,PCPU:2")).fallback);
    EXPECT_FALSE(as_asked(request, read("MEMORY_MB:512,VCPU:2")).fallback);
    const Request made = as_asked(request, other);
    EXPECT_EQ(made.resources, request.resources);
    EXPECT_THAT(made.required_traits, ElementsAre(Trait{"CUSTOM_A"}));
    EXPECT_FALSE(made.fallback);
}

}  // namespace
}  // namespace reaper::candidates_query_test

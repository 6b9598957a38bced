#include "reaper/request_spec/described_request.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace reaper::described_request_test {
namespace {

using ::testing::ElementsAre;

TEST(AddTrait, IsRequiredUnlessForbidden) {
    DescribedRequest described;
    EXPECT_TRUE(add_trait(described, "CUSTOM_A"));
    EXPECT_TRUE(add_trait(described, "CUSTOM_B=required"));
    EXPECT_TRUE(add_trait(described, "CUSTOM_C=forbidden"));
    for (const char* text : {"", "=required", "custom=required", "CUSTOM_A=", "CUSTOM_A=never"})
        EXPECT_FALSE(add_trait(described, text)) << text;
    EXPECT_THAT(described.required_traits, ElementsAre("CUSTOM_A", "CUSTOM_B"));
    EXPECT_THAT(described.forbidden_traits, ElementsAre("CUSTOM_C"));
}

TEST(AddGroup, IsResourcesAndTraitsOnTopOfTheRest) {
    DescribedRequest described;
    described.resources = Resources{{"VCPU", 2}};
    EXPECT_TRUE(add_group(described, "VGPU=1,CUSTOM_A=required,CUSTOM_B=forbidden"));
    EXPECT_TRUE(add_group(described, "VGPU:2"));
    for (const char* text : {"", "CUSTOM_A=required", "VGPU=0", "VGPU=1,custom=required", "VGPU"})
        EXPECT_FALSE(add_group(described, text)) << text;
    EXPECT_FALSE(set_group_policy(described, "")) << "two groups need a policy";
    EXPECT_FALSE(set_group_policy(described, "some"));
    EXPECT_TRUE(set_group_policy(described, "isolate"));
    const Request request = request_of(described, RequestId{"r"}, ProjectId{"p"}, TimePoint{});
    EXPECT_EQ(request.resources, (Resources{{"VCPU", 2}, {"VGPU", 3}}));
    EXPECT_EQ(ungrouped_resources(request), (Resources{{"VCPU", 2}}));
    ASSERT_EQ(request.groups.size(), 2U);
    EXPECT_EQ(request.groups[0].suffix, "1");
    EXPECT_THAT(request.groups[0].forbidden_traits, ElementsAre(Trait{"CUSTOM_B"}));
    EXPECT_EQ(request.group_policy, GroupPolicy::isolate);
    EXPECT_EQ(written(request.groups[0]), "VGPU=1,CUSTOM_A=required,CUSTOM_B=forbidden");
    EXPECT_EQ(groups_text(request.groups, request.group_policy),
              "of it from one provider each: 1: VGPU=1 with CUSTOM_A without CUSTOM_B; 2: VGPU=2 "
              "(no two from the same)");
    DescribedRequest one;
    EXPECT_TRUE(add_group(one, "VGPU=1"));
    EXPECT_TRUE(set_group_policy(one, ""));
}

TEST(RequestOf, HasEverythingThatWasSaid) {
    DescribedRequest described;
    described.resources = Resources{{"VCPU", 2}};
    described.slots = 3;
    described.availability_zone = "az";
    described.required_traits = {"CUSTOM_A"};
    described.res_type = "~regular";
    const TimePoint now{std::chrono::seconds{5}};
    const Request request = request_of(described, RequestId{"r"}, ProjectId{"p"}, now);
    EXPECT_EQ(request.id, RequestId{"r"});
    EXPECT_EQ(request.project, ProjectId{"p"});
    EXPECT_EQ(request.source, RequestSource::operator_);
    EXPECT_EQ(request.slots, 3);
    EXPECT_EQ(request.sent_at, now);
    EXPECT_EQ(request.availability_zone, "az");
    EXPECT_THAT(request.required_traits, ElementsAre(Trait{"CUSTOM_A"}));
    EXPECT_THAT(request.phases_because, ::testing::HasSubstr("~regular"));
}

}  // namespace
}  // namespace reaper::described_request_test

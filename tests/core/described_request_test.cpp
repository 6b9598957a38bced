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

#include "reaper/model/resources_text.hpp"

#include <gtest/gtest.h>

namespace reaper::test::resources_text_test {
namespace {

TEST(ParseResources, ReadsClassesAndAmounts) {
    const auto parsed = parse_resources("VCPU=4,MEMORY_MB=2048,CUSTOM_GPU_80GB=1");
    ASSERT_TRUE(parsed);
    EXPECT_EQ(*parsed, (Resources{{"VCPU", 4}, {"MEMORY_MB", 2048}, {"CUSTOM_GPU_80GB", 1}}));
    const auto as_placement_writes = parse_resources("VCPU:4,MEMORY_MB:2048,CUSTOM_GPU_80GB:1");
    ASSERT_TRUE(as_placement_writes);
    EXPECT_EQ(*as_placement_writes, *parsed);
}

TEST(ParseResources, RefusesWhatPlacementCouldNotMean) {
    for (const char* text : {"",
                             ",",
                             "VCPU",
                             "VCPU=",
                             "=4",
                             "VCPU=0",
                             "VCPU=-1",
                             "VCPU=4x",
                             "VCPU=1.5",
                             "VCPU=1,",
                             "VCPU=1,VCPU=2",
                             "vcpu=1",
                             "VC PU=1",
                             "VCPU=99999999999999999999",
                             "VCPU= 4",
                             "VCPU=4;MEMORY_MB=1",
                             "VCPU:=4",
                             "VCPU::4",
                             ":4",
                             "VCPU:"}) {
        const auto parsed = parse_resources(text);
        ASSERT_FALSE(parsed) << text;
        EXPECT_EQ(parsed.error().code, Errc::bad_input) << text;
    }
}

TEST(ParseResources, SaysWhichPartIsWrong) {
    EXPECT_EQ(parse_resources("VCPU=4,vcpus=1").error().what,
              "'vcpus' is not a resource class; expected one such as VCPU or CUSTOM_GPU; did you "
              "mean 'VCPU'?");
    EXPECT_EQ(parse_resources("MEMORY_MB=2GB").error().what,
              "the amount of MEMORY_MB is '2GB'; expected a whole number from 1 to 2147483647");
    EXPECT_EQ(parse_resources("VCPU=1,VCPU=1").error().what,
              "VCPU is given twice; expected each class once");
    // Found by fuzzing: a script may pass on what another user typed.
    EXPECT_EQ(parse_resources("\x1b[2J=1").error().what.find('\x1b'), std::string::npos);
}

TEST(MeantClass, IsWhatPeopleCallItElsewhereOrATypingError) {
    const std::vector<std::string> cloud{"VCPU", "MEMORY_MB", "DISK_GB", "CUSTOM_FPGA"};
    const std::pair<const char*, const char*> cases[]{
        {"MEMORY", "MEMORY_MB"}, {"RAM", "MEMORY_MB"},
        {"mem", "MEMORY_MB"},    {"MEMORY_BM", "MEMORY_MB"},
        {"DISK", "DISK_GB"},     {"STORAGE", "DISK_GB"},
        {"CPU", "VCPU"},         {"cores", "VCPU"},
        {"VCPUS", "VCPU"},       {"CUSTOM_FGPA", "CUSTOM_FPGA"}};
    for (const auto& [written, meant] : cases)
        EXPECT_EQ(meant_class(written, cloud), "; did you mean '" + std::string{meant} + "'?")
            << written;
    EXPECT_EQ(meant_class("GPU", cloud), "") << "no host has a VGPU";
    EXPECT_EQ(meant_class("CUSTOM_SOMETHING", cloud), "");
}

}  // namespace
}  // namespace reaper::test::resources_text_test

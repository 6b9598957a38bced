// What Placement is asked for: one row for each rule of Nova's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>

#include "reaper/request_spec/request_builder.hpp"
#include "reaper/request_spec/resource_request.hpp"

namespace reaper::resources_of_test {
namespace {

using ::testing::Optional;

Flavor flavor(std::map<std::string, std::string> extra_specs = {}) {
    return Flavor{"f", 4, 2048, 20, 5, 0, std::move(extra_specs)};
}

struct Row {
    const char* name;
    Flavor flavor;
    bool boot_from_volume;
    Resources expected;
};

class ResourcesOf : public ::testing::TestWithParam<Row> {};

TEST_P(ResourcesOf, Flavor) {
    const auto resources = resources_of(GetParam().flavor, GetParam().boot_from_volume);
    ASSERT_TRUE(std::holds_alternative<Resources>(resources))
        << std::get<Refused>(resources).reason;
    EXPECT_EQ(to_string(std::get<Resources>(resources)), to_string(GetParam().expected));
}

Flavor with_swap(Amount swap_mb) {
    Flavor made = flavor();
    made.swap_mb = swap_mb;
    return made;
}

Flavor diskless() {
    Flavor made = flavor();
    made.root_gb = 0;
    made.ephemeral_gb = 0;
    return made;
}

const Resources usual{{"VCPU", 4}, {"MEMORY_MB", 2048}, {"DISK_GB", 25}};

INSTANTIATE_TEST_SUITE_P(
    Rules, ResourcesOf,
    ::testing::Values(
        Row{"RootAndEphemeral", flavor(), false, usual},
        Row{"FromVolumeTakesNoRoot",
            flavor(),
            true,
            {{"VCPU", 4}, {"MEMORY_MB", 2048}, {"DISK_GB", 5}}},
        Row{"NoDisk", diskless(), false, {{"VCPU", 4}, {"MEMORY_MB", 2048}}},
        Row{"SwapOfAWholeGib",
            with_swap(1024),
            false,
            {{"VCPU", 4}, {"MEMORY_MB", 2048}, {"DISK_GB", 26}}},
        Row{"SwapIsRoundedUp",
            with_swap(1025),
            false,
            {{"VCPU", 4}, {"MEMORY_MB", 2048}, {"DISK_GB", 27}}},
        Row{"OverrideReplaces",
            flavor({{"resources:VCPU", "1"}}),
            false,
            {{"VCPU", 1}, {"MEMORY_MB", 2048}, {"DISK_GB", 25}}},
        Row{"ZeroRemoves",
            flavor({{"resources:VCPU", "0"}, {"resources_revocable:CUSTOM_REVOCABLE_VCPU", "2"}}),
            false,
            {{"MEMORY_MB", 2048}, {"DISK_GB", 25}, {"CUSTOM_REVOCABLE_VCPU", 2}}},
        Row{"GroupsAreSummed",
            flavor({{"resources1:VGPU", "1"},
                    {"resources2:VGPU", "2"},
                    {"resources1:VCPU", "3"},
                    {"group_policy", "none"}}),
            false,
            {{"VCPU", 3}, {"MEMORY_MB", 2048}, {"DISK_GB", 25}, {"VGPU", 3}}},
        Row{"OtherKeysCountForNothing",
            flavor({{"resources", "5"}, {"resources.x:VCPU", "no"}, {"group_policy", "none"}}),
            false, usual},
        Row{"DedicatedCpus",
            flavor({{"hw:cpu_policy", "dedicated"}}),
            false,
            {{"PCPU", 4}, {"MEMORY_MB", 2048}, {"DISK_GB", 25}}},
        Row{"SharedCpus", flavor({{"hw:cpu_policy", "shared"}}), false, usual},
        Row{"EmulatorThreadsOfTheirOwn",
            flavor({{"hw:cpu_policy", "dedicated"}, {"hw:emulator_threads_policy", "isolate"}}),
            false,
            {{"PCPU", 5}, {"MEMORY_MB", 2048}, {"DISK_GB", 25}}},
        Row{"MixedCpus",
            flavor({{"hw:cpu_policy", "mixed"}, {"hw:cpu_dedicated_mask", "0-2"}}),
            false,
            {{"PCPU", 3}, {"VCPU", 1}, {"MEMORY_MB", 2048}, {"DISK_GB", 25}}},
        Row{"MixedCpusByExclusion",
            flavor({{"hw:cpu_policy", "mixed"}, {"hw:cpu_dedicated_mask", "^0-1"}}),
            false,
            {{"PCPU", 2}, {"VCPU", 2}, {"MEMORY_MB", 2048}, {"DISK_GB", 25}}},
        Row{"PcpuGivenLeavesNoVcpu",
            flavor({{"resources:PCPU", "2"}}),
            false,
            {{"PCPU", 2}, {"MEMORY_MB", 2048}, {"DISK_GB", 25}}},
        Row{"PersistentMemoryAndEncryption",
            flavor({{"hw:pmem", "6GB,LARGE,6GB"}, {"hw:mem_encryption", "True"}}),
            false,
            {{"VCPU", 4},
             {"MEMORY_MB", 2048},
             {"DISK_GB", 25},
             {"CUSTOM_PMEM_NAMESPACE_6GB", 2},
             {"CUSTOM_PMEM_NAMESPACE_LARGE", 1},
             {"MEM_ENCRYPTION_CONTEXT", 1}}},
        Row{"PersistentMemoryOfOddNames",
            flavor({{"hw:pmem", " six-gb , six+-gb,, "}}),
            false,
            {{"VCPU", 4},
             {"MEMORY_MB", 2048},
             {"DISK_GB", 25},
             {"CUSTOM_PMEM_NAMESPACE_SIX_GB", 2}}}),
    [](const auto& row) { return row.param.name; });

struct OddOverride {
    const char *key, *value;
};

class Odd : public ::testing::TestWithParam<OddOverride> {};

/// As Nova does: it warns in its log, and goes on.
TEST_P(Odd, OverrideIsPassedOver) {
    const auto resources = resources_of(flavor({{GetParam().key, GetParam().value}}), false);
    ASSERT_TRUE(std::holds_alternative<Resources>(resources));
    EXPECT_EQ(to_string(std::get<Resources>(resources)), to_string(usual));
}

INSTANTIATE_TEST_SUITE_P(
    Values, Odd,
    ::testing::Values(OddOverride{"resources:VCPU", "many"}, OddOverride{"resources:VCPU", "-1"},
                      OddOverride{"resources:VCPU", ""}, OddOverride{"resources:VCPU", "1.5"},
                      OddOverride{"resources:VCPU", "-99999999999999999999"},
                      OddOverride{"resources:", "1"}, OddOverride{"resources:vcpu", "1"},
                      OddOverride{"resources:GPU", "1"}));

TEST(ResourcesOfFlavor, AnAmountBeyondAllIsTheLargest) {
    for (const auto* amount : {"99999999999999999999", " +99999999999999999999 "}) {
        const auto resources = resources_of(flavor({{"resources:VCPU", amount}}), false);
        EXPECT_EQ(std::get<Resources>(resources).get(ResourceClass{"VCPU"}),
                  std::numeric_limits<Amount>::max());
    }
}

TEST(ResourcesOfFlavor, MixedWithoutAnUsableMaskIsRefused) {
    for (const auto* mask : {"", "x", "9-3", "^0-3"}) {
        const auto resources = resources_of(
            flavor({{"hw:cpu_policy", "mixed"}, {"hw:cpu_dedicated_mask", mask}}), false);
        EXPECT_TRUE(std::holds_alternative<Refused>(resources)) << mask;
    }
}

TEST(ResourcesOfFlavor, NegativeFieldsCountAsNothing) {
    const Flavor odd{"odd", -1, -2, -3, -4, -5, {}};
    EXPECT_EQ(std::get<Resources>(resources_of(odd, false)), Resources{});
}

TEST(CpuList, RangesListsAndExclusions) {
    EXPECT_THAT(parse_cpu_list("0-3,^2, 8"), Optional(std::set{0, 1, 3, 8}));
    EXPECT_THAT(parse_cpu_list("1,,2"), Optional(std::set{1, 2}));
    for (const auto* bad : {"", "a", "1-", "-1", "3-1", "^1", "1-99999999", "70000", "1 2"})
        EXPECT_FALSE(parse_cpu_list(bad).has_value()) << bad;
}

}  // namespace
}  // namespace reaper::resources_of_test

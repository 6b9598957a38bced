// What later releases of Nova ask Placement for besides, and what options of its scheduler add. The
// rows are what those releases' own functions answer (nova.scheduler.utils and request_filter of
// 29.0.0 to 33.0.0, and of 2026.2 in the making); what Zed asks is recorded, see
// tests/app/cloud_reader/placement_queries_test.cpp.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reaper/request_spec/request_builder.hpp"

namespace reaper::resource_request_test {
namespace {

using ::testing::HasSubstr;
using Specs = std::map<std::string, std::string>;
using enum NovaRelease;

Flavor flavor(const Specs& extra_specs) {
    return Flavor{"f", 2, 1024, 20, 0, 0, extra_specs};
}

/// Traits of any provider and, after a bar, of the root.
std::string traits(const Specs& extra_specs, const Specs& properties, NovaRelease release,
                   const SchedulerRules& rules = {}, bool boot_from_volume = false) {
    const Flavor made = flavor(extra_specs);
    const ImageProperties image = image_meta(properties);
    const ServerSpec spec{made, image, boot_from_volume, release};
    const auto request = resource_request(spec);
    if (!request) return request.error().what;
    const auto root = root_traits(spec, rules);
    if (!root) return root.error().what;
    std::string text;
    for (const auto& trait : request->shape.required_traits) text += trait.str() + " ";
    text += "|";
    for (const auto& trait : *root) text += " " + trait.str();
    return text;
}

struct Row {
    const char* name;
    Specs specs, image;
    NovaRelease since;
    const char *before, *then;
};

class Release : public ::testing::TestWithParam<Row> {};

TEST_P(Release, AsksForIt) {
    const Row& row = GetParam();
    const auto earlier = static_cast<NovaRelease>(static_cast<int>(row.since) - 1);
    EXPECT_EQ(traits(row.specs, row.image, earlier), row.before);
    EXPECT_EQ(traits(row.specs, row.image, row.since), row.then);
}

const Specs uefi{{"hw_firmware_type", "uefi"}};
Specs with_uefi(Specs more) {
    more.merge(Specs{uefi});
    return more;
}
const Specs encrypted{{"hw:mem_encryption", "true"}};
const Specs tpm{{"hw:tpm_version", "2.0"}};
constexpr const char* tpm_before = "COMPUTE_SECURITY_TPM_2_0 COMPUTE_SECURITY_TPM_TIS |";

INSTANTIATE_TEST_SUITE_P(
    Later, Release,
    ::testing::Values(
        Row{"PackedRing",
            {{"hw:virtio_packed_ring", "true"}},
            {},
            r2024_1,
            "|",
            "| COMPUTE_NET_VIRTIO_PACKED"},
        Row{"PackedRingOfTheImage",
            {},
            {{"hw_virtio_packed_ring", "true"}},
            r2024_1,
            "|",
            "| COMPUTE_NET_VIRTIO_PACKED"},
        Row{"NoPackedRing", {{"hw:virtio_packed_ring", "false"}}, {}, r2024_1, "|", "|"},
        Row{"AddressesPassedThrough",
            {{"hw:maxphysaddr_mode", "passthrough"}},
            {},
            r2024_1,
            "|",
            "COMPUTE_ADDRESS_SPACE_PASSTHROUGH |"},
        Row{"AddressesEmulated",
            {},
            {{"hw_maxphysaddr_mode", "emulate"}},
            r2024_1,
            "|",
            "COMPUTE_ADDRESS_SPACE_EMULATED |"},
        Row{"StatelessFirmware",
            {},
            with_uefi({{"hw_firmware_stateless", "true"}}),
            r2024_2,
            "|",
            "COMPUTE_SECURITY_STATELESS_FIRMWARE |"},
        Row{"StatelessFirmwareOfABios",
            {},
            {{"hw_firmware_type", "bios"}, {"hw_firmware_stateless", "true"}},
            r2024_2,
            "|",
            "|"},
        Row{"Tpm", tpm, {}, r2024_2, "COMPUTE_SECURITY_TPM_2_0 |", tpm_before},
        Row{"TpmOfTheImage",
            {},
            {{"hw_tpm_version", "1.2"}},
            r2024_2,
            "COMPUTE_SECURITY_TPM_1_2 |",
            "COMPUTE_SECURITY_TPM_1_2 COMPUTE_SECURITY_TPM_TIS |"},
        Row{"TpmWithItsModel",
            {{"hw:tpm_version", "2.0"}, {"hw:tpm_model", "tpm-crb"}},
            {},
            r2024_2,
            "COMPUTE_SECURITY_TPM_2_0 |",
            "COMPUTE_SECURITY_TPM_2_0 COMPUTE_SECURITY_TPM_CRB |"},
        Row{"Sound",
            {{"hw:sound_model", "virtio"}},
            {},
            r2025_2,
            "|",
            "| COMPUTE_SOUND_MODEL_VIRTIO"},
        Row{"OtherSound", {}, {{"hw_sound_model", "ich9"}}, r2025_2, "|", "|"},
        Row{"MemoryEncryption", encrypted, uefi, r2025_2, "|", "HW_CPU_X86_AMD_SEV |"},
        Row{"MemoryEncryptionOfAKind",
            {{"hw:mem_encryption", "true"}, {"hw:mem_encryption_model", "amd-sev-es"}},
            uefi,
            r2025_2,
            "|",
            "HW_CPU_X86_AMD_SEV_ES |"},
        Row{"MemoryEncryptionOfTheImage",
            {},
            with_uefi({{"hw_mem_encryption", "true"}, {"hw_mem_encryption_model", "amd-sev-snp"}}),
            r2025_2,
            "|",
            "HW_CPU_X86_AMD_SEV_SNP |"},
        Row{"TpmSecretOfTheUser",
            tpm,
            {},
            r2026_1,
            tpm_before,
            "COMPUTE_SECURITY_TPM_2_0 COMPUTE_SECURITY_TPM_TIS | "
            "COMPUTE_SECURITY_TPM_SECRET_SECURITY_USER"},
        Row{"TpmSecretOfTheHost",
            {{"hw:tpm_version", "2.0"}, {"hw:tpm_secret_security", "host"}},
            {},
            r2026_1,
            tpm_before,
            "COMPUTE_SECURITY_TPM_2_0 COMPUTE_SECURITY_TPM_TIS | "
            "COMPUTE_SECURITY_TPM_SECRET_SECURITY_HOST"},
        Row{"ASecretWithoutTpm", {{"hw:tpm_secret_security", "host"}}, {}, r2026_1, "|", "|"},
        Row{"Owner", {}, {}, r2026_2, "|", "| OWNER_NOVA"}),
    [](const auto& row) { return row.param.name; });

TEST(ImageFilters, AreOptionsOfTheScheduler) {
    const Specs image{{"disk_format", "qcow2"},
                      {"hw_vif_model", "igb"},
                      {"architecture", "AMD64"},
                      {"hw_disk_bus", "virtio"}};
    EXPECT_EQ(traits({}, image, zed), "|");
    SchedulerRules rules;
    rules.image_type_filter = true;
    EXPECT_EQ(traits({}, image, zed, rules), "| COMPUTE_IMAGE_TYPE_QCOW2");
    EXPECT_EQ(traits({}, image, zed, rules, true), "|") << "a volume has no format to boot";
    EXPECT_EQ(traits({}, {{"disk_format", "docker"}}, zed, rules), "|") << "no such trait";
    rules.image_type_filter = false;
    rules.image_metadata_filter = true;
    EXPECT_EQ(traits({}, image, zed, rules),
              "| COMPUTE_NET_VIF_MODEL_IGB COMPUTE_STORAGE_BUS_VIRTIO HW_ARCH_X86_64");
    EXPECT_EQ(traits({}, {{"hw_disk_bus", "virtio"}, {"hw_video_model", "new"}}, zed, rules), "|")
        << "Nova asks for none when one has no trait";
}

/// Of 2023.1 and later: nova.objects.request_spec, generate_request_groups_from_pci_requests.
TEST(PciDevices, AreGroupsOfOneEach) {
    const Flavor made = flavor({{"resources1:VGPU", "1"}});
    const ImageProperties no_image;
    const std::vector<PciRequest> devices{
        {"id-a", 2, "", "8086", "15a3", "custom_fast,HW_NIC_SRIOV,big one"},
        {"id-b", 1, "gpu", "", "", ""}};
    ServerSpec spec{made, no_image, false, r2023_1, &devices};
    auto request = resource_request(spec);
    ASSERT_TRUE(request) << request.error().what;
    ASSERT_EQ(request->groups.size(), 4U);
    EXPECT_EQ(request->group_policy, GroupPolicy::none) << "one group is the flavor's own";
    const auto& first = request->groups[1];
    EXPECT_EQ(first.suffix, "id-a-0");
    EXPECT_EQ(first.resources, (Resources{{"CUSTOM_PCI_8086_15A3", 1}}));
    EXPECT_EQ(first.required_traits,
              (std::set{Trait{"CUSTOM_BIG_ONE"}, Trait{"CUSTOM_FAST"}, Trait{"HW_NIC_SRIOV"}}));
    EXPECT_EQ(request->groups[2].suffix, "id-a-1");
    EXPECT_EQ(request->groups[3].resources, (Resources{{"CUSTOM_GPU", 1}}));
    EXPECT_TRUE(request->groups[3].required_traits.empty());
    spec.release = r2026_2;
    request = resource_request(spec);
    EXPECT_EQ(request->groups[3].required_traits, std::set{Trait{"OWNER_NOVA"}});
    EXPECT_TRUE(request->groups[0].required_traits.empty());
}

TEST(Refusals, AreThoseOfNova) {
    const auto refusal = [](const Specs& specs, const Specs& image, NovaRelease release) {
        return traits(specs, image, release);
    };
    EXPECT_THAT(refusal({{"hw:cpu_policy", "own"}}, {}, zed), HasSubstr("hw:cpu_policy is 'own'"));
    EXPECT_THAT(refusal({{"hw:cpu_policy", "shared"}}, {{"hw_cpu_policy", "dedicated"}}, zed),
                HasSubstr("may not overrule"));
    EXPECT_THAT(
        refusal({{"hw:cpu_thread_policy", "isolate"}}, {{"hw_cpu_thread_policy", "require"}}, zed),
        HasSubstr("may not overrule"));
    EXPECT_THAT(refusal({{"os:secure_boot", "perhaps"}}, {}, zed), HasSubstr("os:secure_boot"));
    EXPECT_THAT(refusal(encrypted, {{"hw_mem_encryption", "false"}}, zed),
                HasSubstr("Nova refuses that"));
    EXPECT_THAT(
        refusal({{"hw:tpm_version", "2.0"}, {"hw:tpm_secret_security", "all"}}, {}, r2026_1),
        HasSubstr("user, host, deployment"));
    EXPECT_EQ(refusal({{"hw:maxphysaddr_mode", "odd"}}, {}, zed), "|") << "not known then";
}

TEST(NovaReleases, AreKnownByTheirApi) {
    for (const auto& [minor, release] :
         {std::pair{1, "zed"}, std::pair{93, "zed"}, std::pair{95, "2023.2"},
          std::pair{96, "2024.2"}, std::pair{100, "2025.2"}, std::pair{103, "2026.1"},
          std::pair{104, "2026.2"}, std::pair{999, "2026.2"}})
        EXPECT_EQ(to_string(release_of_api(minor)), release) << minor;
    for (const auto* name : {"zed", "2023.1", "2025.1", "2026.2"})
        EXPECT_EQ(to_string(*nova_release_from(name)), name);
    EXPECT_EQ(nova_release_from("auto"), std::nullopt);
}

}  // namespace
}  // namespace reaper::resource_request_test

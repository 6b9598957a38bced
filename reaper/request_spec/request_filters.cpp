#include "reaper/request_spec/request_filters.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "reaper/model/text.hpp"

namespace reaper {
namespace {

/// What an image property is called, how its trait begins, and how it may end, with blanks between.
/// A trait that os-traits does not have is not asked for. Source: os_traits of 2026.
struct ImageTrait {
    std::string_view property, prefix, known;
};

constexpr std::string_view buses = " FDC IDE LXC SATA SCSI USB VIRTIO UML XEN ";
constexpr ImageTrait image_traits[] = {
    {"hw_cdrom_bus", "COMPUTE_STORAGE_BUS_", buses},
    {"hw_disk_bus", "COMPUTE_STORAGE_BUS_", buses},
    {"hw_video_model", "COMPUTE_GRAPHICS_MODEL_",
     " BOCHS CIRRUS GOP NONE QXL VGA VIRTIO VMVGA XEN "},
    {"hw_vif_model", "COMPUTE_NET_VIF_MODEL_",
     " E1000 E1000E IGB LAN9118 NETFRONT NE2K_PCI PCNET RTL8139 SPAPR_VLAN SRIOV VIRTIO VMXNET "
     "VMXNET3 "},
    {"hw_architecture", "HW_ARCH_",
     " ALPHA ARMV6 ARMV7 ARMV7B AARCH64 CRIS I686 IA64 LM32 M68K MICROBLAZE MICROBLAZEEL MIPS "
     "MIPSEL MIPS64 MIPS64EL OPENRISC PARISC PARISC64 PPC PPCLE PPC64 PPC64LE PPCEMB S390 S390X "
     "SH4 SH4EB SPARC SPARC64 UNICORE32 X86_64 XTENSA XTENSAEB "},
    {"hw_emulation_architecture", "COMPUTE_ARCH_", " AARCH64 PPC64LE MIPSEL S390X RISCV64 X86_64 "},
    // os-traits calls them COMPUTE_VIOMMU_MODEL_..., so that Nova finds none.
    {"hw_viommu_model", "COMPUTE_VIOMMU_", ""},
};
constexpr ImageTrait image_type{"disk_format", "COMPUTE_IMAGE_TYPE_",
                                " AKI AMI ARI ISO PLOOP QCOW2 RAW VDI VHD VHDX VMDK "};

/// The trait of a value; none if there is no such trait.
std::optional<Trait> trait_of(const ImageTrait& row, std::string_view value) {
    std::string word = to_upper(value);
    std::replace(word.begin(), word.end(), '-', '_');
    const bool known = !word.empty() && word.find(' ') == std::string::npos &&
                       row.known.find(" " + word + " ") != std::string_view::npos;
    if (!known) return std::nullopt;
    return Trait{std::string{row.prefix} + word};
}

/// All or none: one that there is no trait for lets all others pass.
void add_image_metadata(const ImageProperties& image, std::set<Trait>& traits) {
    std::set<Trait> found;
    for (const auto& row : image_traits) {
        const auto at = image.find(std::string{row.property});
        if (at == image.end()) continue;
        auto trait = trait_of(row, at->second);
        if (!trait) return;
        found.insert(std::move(*trait));
    }
    traits.merge(found);
}

void add_image_type(const ServerSpec& spec, std::set<Trait>& traits) {
    const auto at = spec.image.find(std::string{image_type.property});
    if (spec.boot_from_volume || at == spec.image.end()) return;
    if (auto trait = trait_of(image_type, at->second)) traits.insert(std::move(*trait));
}

Result<void> add_ephemeral_encryption(const Wishes& wishes, std::set<Trait>& traits) {
    auto wanted = wishes.wanted("ephemeral_encryption");
    if (!wanted) return wanted.error();
    if (!*wanted) return {};
    traits.emplace("COMPUTE_EPHEMERAL_ENCRYPTION");
    auto format = wishes.of_either("ephemeral_encryption_format", {"plain", "luks", "luksv2"});
    if (!format) return format.error();
    if (*format && !(*format)->empty())
        traits.emplace("COMPUTE_EPHEMERAL_ENCRYPTION_" + to_upper(**format));
    return {};
}

Result<void> add_sound(const Wishes& wishes, std::set<Trait>& traits) {
    auto model = wishes.of_either(
        "sound_model", {"sb16", "es1370", "pcspk", "ac97", "ich6", "ich9", "usb", "virtio"});
    if (!model) return model.error();
    if (*model == "virtio") traits.emplace("COMPUTE_SOUND_MODEL_VIRTIO");
    return {};
}

/// Which users may read the secret of a server's TPM: the flavor says, for servers that have one.
Result<void> add_tpm_secret(const Wishes& wishes, std::set<Trait>& traits) {
    if (wishes.of_flavor("tpm_version").value_or("").empty() &&
        wishes.of_image("tpm_version").value_or("").empty())
        return {};
    std::string security = wishes.of_flavor("tpm_secret_security").value_or("");
    if (security.empty()) security = "user";
    if (security != "user" && security != "host" && security != "deployment")
        return not_one_of("hw:tpm_secret_security", security, {"user", "host", "deployment"});
    traits.emplace("COMPUTE_SECURITY_TPM_SECRET_SECURITY_" + to_upper(security));
    return {};
}

}  // namespace

Result<std::set<Trait>> root_traits(const ServerSpec& spec, const SchedulerRules& rules) {
    const Wishes wishes{spec.flavor, spec.image};
    std::set<Trait> traits;
    if (rules.image_type_filter) add_image_type(spec, traits);
    if (rules.image_metadata_filter) add_image_metadata(spec.image, traits);
    if (!wishes.of_flavor("device_profile", "accel").value_or("").empty())
        traits.emplace("COMPUTE_ACCELERATORS");
    if (spec.release >= NovaRelease::r2024_1) {
        auto packed = wishes.wanted("virtio_packed_ring");
        if (!packed) return packed.error();
        if (*packed) traits.emplace("COMPUTE_NET_VIRTIO_PACKED");
    }
    if (auto done = add_ephemeral_encryption(wishes, traits); !done) return done.error();
    if (spec.release >= NovaRelease::r2025_2)
        if (auto done = add_sound(wishes, traits); !done) return done.error();
    if (spec.release >= NovaRelease::r2026_1)
        if (auto done = add_tpm_secret(wishes, traits); !done) return done.error();
    if (spec.release >= NovaRelease::r2026_2) traits.emplace("OWNER_NOVA");
    return traits;
}

}  // namespace reaper

#include "reaper/request_spec/resource_request.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reaper/model/amount.hpp"
#include "reaper/model/nova_release.hpp"
#include "reaper/model/request_groups.hpp"
#include "reaper/model/text.hpp"
#include "reaper/request_spec/cpu_wishes.hpp"
#include "reaper/request_spec/extra_specs.hpp"

namespace reaper {
namespace {

// PCI devices in Placement: each device that a flavor asks for is a group of its own.
//
// Source: nova.objects.request_spec (generate_request_groups_from_pci_requests),
// nova.compute.pci_placement_translator.

constexpr std::string_view custom = "CUSTOM_";
/// How the names of os-traits begin.
constexpr std::string_view standard_traits[] = {"COMPUTE_", "HW_", "MISC_", "OWNER_", "STORAGE_"};

std::string class_of(const PciRequest& request) {
    if (request.resource_class.empty())
        return to_upper("CUSTOM_PCI_" + request.vendor + "_" + request.product);
    const std::string name = to_upper(request.resource_class);
    return is_resource_class(name) ? name : custom_name(name);
}

std::string trait_name(std::string_view text) {
    const std::string name = to_upper(text);
    const bool standard =
        std::any_of(std::begin(standard_traits), std::end(standard_traits),
                    [&](std::string_view start) { return text.starts_with(start); });
    return standard || name.starts_with(custom) ? name : custom_name(name);
}

std::set<Trait> traits_of(const PciRequest& request) {
    std::set<Trait> traits;
    std::string_view rest = request.traits;
    while (!rest.empty()) {
        const auto comma = std::min(rest.find(','), rest.size());
        traits.emplace(trait_name(rest.substr(0, comma)));
        rest.remove_prefix(std::min(comma + 1, rest.size()));
    }
    return traits;
}

std::vector<RequestGroup> pci_groups(const std::vector<PciRequest>& requests, NovaRelease release) {
    std::vector<RequestGroup> groups;
    for (const auto& request : requests)
        for (int i = 0; i < request.count; ++i) {
            RequestGroup group;
            group.suffix = request.id + "-" + std::to_string(i);
            group.resources.set(ResourceClass{class_of(request)}, 1);
            group.required_traits = traits_of(request);
            if (release >= NovaRelease::r2026_2) group.required_traits.emplace("OWNER_NOVA");
            groups.push_back(std::move(group));
        }
    return groups;
}

constexpr Amount mb_in_gb = 1024;
const std::string refused_search = ": Placement refuses to search for it, so no room can help it";
/// Of the group whose resources may come from any provider of the host.
const std::string no_suffix;

const ResourceClass vcpu_class{"VCPU"};
const ResourceClass pcpu_class{"PCPU"};
const ResourceClass memory_class{"MEMORY_MB"};
const ResourceClass disk_class{"DISK_GB"};
const ResourceClass encryption_class{"MEM_ENCRYPTION_CONTEXT"};
const Trait hyperthreading{"HW_CPU_HYPERTHREADING"};

/// A group while it is put together: amounts of 0 say that nothing is wanted, whatever else does.
struct DraftGroup {
    std::map<ResourceClass, Amount> amounts;
    std::set<Trait> required, forbidden;
};

class Draft {
public:
    explicit Draft(const ServerSpec& spec) : spec_{spec}, wishes_{spec.flavor, spec.image} {}

    /// `cpus`: what the CPU policy means is asked for; false: as if there were none.
    Result<void> fill(bool cpus) {
        read_extra_specs();
        groups_of_flavor_ = suffixed();
        read_image_traits();
        if (cpus)
            if (auto done = add_cpus(); !done) return done;
        if (spec_.pci != nullptr) add_devices();
        add_sizes();
        if (auto done = add_memory_encryption(); !done) return done;
        add_persistent_memory();
        if (auto done = add_tpm(); !done) return done;
        if (auto done = add_pci_affinity(); !done) return done;
        if (auto done = add_secure_boot(); !done) return done;
        if (auto done = add_address_mode(); !done) return done;
        add_stateless_firmware();
        strip();
        return {};
    }

    bool pinned() const { return pinned_; }
    SlotShape shape() const;
    Result<std::vector<RequestGroup>> groups() const;
    Result<std::optional<GroupPolicy>> group_policy() const;

private:
    void require(const char* trait) { groups_[no_suffix].required.insert(Trait{trait}); }
    void set(const ResourceClass& resource_class, Amount amount) {
        groups_[no_suffix].amounts[resource_class] = amount;
    }
    bool asks_for(const ResourceClass& resource_class) const {
        return std::any_of(groups_.begin(), groups_.end(), [&](const auto& group) {
            return group.second.amounts.contains(resource_class);
        });
    }
    std::size_t suffixed() const { return groups_.size() - groups_.count(no_suffix); }

    void read_extra_specs();
    void read_image_traits();
    Result<void> add_cpus();
    void add_devices();
    void add_sizes();
    Result<void> add_memory_encryption();
    void add_persistent_memory();
    Result<void> add_tpm();
    Result<void> add_pci_affinity();
    Result<void> add_secure_boot();
    Result<void> add_address_mode();
    void add_stateless_firmware();
    void strip();

    const ServerSpec& spec_;
    const Wishes wishes_;
    std::map<std::string, DraftGroup> groups_;
    std::optional<GroupPolicy> policy_;
    std::size_t groups_of_flavor_ = 0;
    bool pinned_ = false;
};

// ---- what is written out ----

/// What Nova can't read it passes over; what it reads and Placement does not know, no host has.
void Draft::read_extra_specs() {
    for (const auto& [key, value] : spec_.flavor.extra_specs) {
        if (key == "group_policy") {
            if (const auto policy = group_policy_from(value)) policy_ = policy;
        } else if (const auto resource = grouped_key(key, "resources")) {
            const auto amount = amount_of(value);
            // The group is there, though this is nothing in it.
            DraftGroup& group = groups_[std::string{resource->group}];
            if (amount && is_resource_class(resource->name))
                group.amounts[ResourceClass{std::string{resource->name}}] = *amount;
        } else if (const auto trait = grouped_key(key, "trait")) {
            DraftGroup& group = groups_[std::string{trait->group}];
            if (value == "required") group.required.emplace(std::string{trait->name});
            if (value == "forbidden") group.forbidden.emplace(std::string{trait->name});
        }
    }
}

/// An image may only require, and belongs to no group.
void Draft::read_image_traits() {
    constexpr std::string_view prefix = "trait:";
    for (const auto& [key, value] : spec_.image)
        if (key.starts_with(prefix) && value == "required")
            groups_[no_suffix].required.emplace(key.substr(prefix.size()));
}

// ---- sizes ----

Result<void> Draft::add_cpus() {
    auto cpus = cpu_wishes(wishes_);
    if (!cpus) return cpus.error();
    pinned_ = cpus->pinned();
    if (cpus->policy == CpuWishes::Policy::mixed) set(vcpu_class, cpus->shared);
    if (cpus->policy == CpuWishes::Policy::mixed || pinned_) set(pcpu_class, cpus->dedicated);
    auto& group = groups_[no_suffix];
    if (cpus->threads == CpuWishes::Threads::required) group.required.insert(hyperthreading);
    if (cpus->threads == CpuWishes::Threads::forbidden) group.forbidden.insert(hyperthreading);
    return {};
}

void Draft::add_devices() {
    for (auto& device : pci_groups(*spec_.pci, spec_.release)) {
        DraftGroup& group = groups_[device.suffix];
        group.required = std::move(device.required_traits);
        for (const auto& [resource_class, amount] : device.resources)
            group.amounts[resource_class] = amount;
    }
}

/// The flavor's own, unless extra specs say otherwise; CPUs of either kind say so for both.
void Draft::add_sizes() {
    const Flavor& flavor = spec_.flavor;
    if (!asks_for(vcpu_class) && !asks_for(pcpu_class))
        set(vcpu_class, std::max<Amount>(flavor.vcpus, 0));
    if (!asks_for(memory_class)) set(memory_class, std::max<Amount>(flavor.memory_mb, 0));
    if (asks_for(disk_class)) return;
    Amount disk = spec_.boot_from_volume ? 0 : std::max<Amount>(flavor.root_gb, 0);
    disk = saturating_add(disk, std::max<Amount>(flavor.ephemeral_gb, 0));
    if (flavor.swap_mb > 0) disk = saturating_add(disk, divide_up(flavor.swap_mb, mb_in_gb));
    set(disk_class, disk);
}

void Draft::strip() {
    for (auto& [suffix, group] : groups_)
        std::erase_if(group.amounts, [](const auto& entry) { return entry.second == 0; });
    std::erase_if(groups_, [](const auto& entry) {
        const DraftGroup& group = entry.second;
        return group.amounts.empty() && group.required.empty() && group.forbidden.empty();
    });
}

// ---- what else the host must be able to ----

Result<void> Draft::add_memory_encryption() {
    auto wanted = wishes_.wanted("mem_encryption");
    if (!wanted) return wanted.error();
    if (!*wanted) return {};
    set(encryption_class, 1);
    if (spec_.release < NovaRelease::r2025_2) return {};
    auto model =
        wishes_.of_either("mem_encryption_model", {"amd-sev", "amd-sev-es", "amd-sev-snp"});
    if (!model) return model.error();
    if (*model == "amd-sev-es")
        require("HW_CPU_X86_AMD_SEV_ES");
    else if (*model == "amd-sev-snp")
        require("HW_CPU_X86_AMD_SEV_SNP");
    else
        require("HW_CPU_X86_AMD_SEV");
    return {};
}

/// `6GB,LARGE`: one of each label. Letters and digits are kept, in capitals.
void Draft::add_persistent_memory() {
    const std::string labels = wishes_.of_flavor("pmem").value_or("");
    std::map<ResourceClass, Amount> amounts;
    std::string_view rest = labels;
    while (!rest.empty()) {
        const auto comma = std::min(rest.find(','), rest.size());
        const std::string_view label = trimmed(rest.substr(0, comma));
        rest.remove_prefix(std::min(comma + 1, rest.size()));
        if (label.empty()) continue;
        ++amounts[ResourceClass{custom_name("PMEM_NAMESPACE_" + std::string{label})}];
    }
    for (const auto& [resource_class, amount] : amounts) set(resource_class, amount);
}

Result<void> Draft::add_tpm() {
    auto version = wishes_.of_either("tpm_version", {"1.2", "2.0"});
    if (!version) return version.error();
    if (!*version) return {};
    auto model = wishes_.of_either("tpm_model", {"tpm-tis", "tpm-crb"});
    if (!model) return model.error();
    require(*version == "1.2" ? "COMPUTE_SECURITY_TPM_1_2" : "COMPUTE_SECURITY_TPM_2_0");
    if (spec_.release >= NovaRelease::r2024_2)
        require(*model == "tpm-crb" ? "COMPUTE_SECURITY_TPM_CRB" : "COMPUTE_SECURITY_TPM_TIS");
    return {};
}

Result<void> Draft::add_pci_affinity() {
    auto policy = wishes_.of_either("pci_numa_affinity_policy",
                                    {"required", "legacy", "preferred", "socket"});
    if (!policy) return policy.error();
    if (*policy == "socket") require("COMPUTE_SOCKET_PCI_NUMA_AFFINITY");
    return {};
}

Result<void> Draft::add_secure_boot() {
    auto policy = wishes_.of_either("secure_boot", {"required", "disabled", "optional"}, "os");
    if (!policy) return policy.error();
    if (*policy == "required") require("COMPUTE_SECURITY_UEFI_SECURE_BOOT");
    return {};
}

Result<void> Draft::add_address_mode() {
    if (spec_.release < NovaRelease::r2024_1) return {};
    auto mode = wishes_.of_either("maxphysaddr_mode", {"passthrough", "emulate"});
    if (!mode) return mode.error();
    if (*mode == "passthrough") require("COMPUTE_ADDRESS_SPACE_PASSTHROUGH");
    if (*mode == "emulate") require("COMPUTE_ADDRESS_SPACE_EMULATED");
    return {};
}

/// The image's alone to ask for.
void Draft::add_stateless_firmware() {
    if (spec_.release < NovaRelease::r2024_2) return;
    const auto stateless = wishes_.of_image("firmware_stateless");
    if (stateless && means_yes(*stateless) && wishes_.of_image("firmware_type") == "uefi")
        require("COMPUTE_SECURITY_STATELESS_FIRMWARE");
}

// ---- the answer ----

SlotShape Draft::shape() const {
    SlotShape shape;
    for (const auto& [suffix, group] : groups_)
        for (const auto& [resource_class, amount] : group.amounts)
            shape.resources.add(resource_class, amount);
    if (const auto at = groups_.find(no_suffix); at != groups_.end()) {
        shape.required_traits = at->second.required;
        shape.forbidden_traits = at->second.forbidden;
    }
    return shape;
}

Result<std::vector<RequestGroup>> Draft::groups() const {
    std::vector<RequestGroup> groups;
    for (const auto& [suffix, draft] : groups_) {
        if (draft.amounts.empty())
            return Error{Errc::bad_input,
                         (suffix == no_suffix
                              ? "all resources of the request are in groups, and its traits are in "
                                "none"
                              : "the flavor asks for traits of group '" + printable(suffix, 64) +
                                    "', but for no resources of it") +
                             refused_search};
        if (suffix == no_suffix) continue;
        RequestGroup group;
        group.suffix = suffix;
        for (const auto& [resource_class, amount] : draft.amounts)
            group.resources.set(resource_class, amount);
        group.required_traits = draft.required;
        group.forbidden_traits = draft.forbidden;
        groups.push_back(std::move(group));
    }
    return groups;
}

Result<std::optional<GroupPolicy>> Draft::group_policy() const {
    if (policy_ || suffixed() < 2) return policy_;
    if (groups_of_flavor_ < 2) return std::optional{GroupPolicy::none};
    return Error{Errc::bad_input, "the flavor asks for " + std::to_string(suffixed()) +
                                      " groups of resources without a group_policy (none or "
                                      "isolate)" +
                                      refused_search};
}

}  // namespace

Result<ResourceRequest> resource_request(const ServerSpec& spec) {
    Draft draft{spec};
    if (auto filled = draft.fill(true); !filled) return filled.error();
    auto groups = draft.groups();
    if (!groups) return groups.error();
    auto policy = draft.group_policy();
    if (!policy) return policy.error();
    ResourceRequest request;
    request.shape = draft.shape();
    request.groups = std::move(*groups);
    request.group_policy = *policy;
    if (draft.pinned()) {
        Draft shared{spec};
        if (auto filled = shared.fill(false); !filled) return filled.error();
        request.fallback = shared.shape();
    }
    return request;
}

}  // namespace reaper

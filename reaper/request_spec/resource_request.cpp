#include "reaper/request_spec/resource_request.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <limits>
#include <utility>

#include "reaper/model/text.hpp"

namespace reaper {

// Which CPUs a server is to have: shared ones (VCPU), its own (PCPU), or some of each.

struct CpuWishes {
    enum class Policy { none, shared, dedicated, mixed } policy = Policy::none;
    Amount shared = 0;     ///< of a mixed server
    Amount dedicated = 0;  ///< with one for the emulator, if that has its own
    /// Of a host with two threads for each core.
    enum class Threads { any, required, forbidden } threads = Threads::any;

    bool pinned() const { return policy == Policy::dedicated; }
};

namespace {

constexpr int last_cpu = 65'535;

std::optional<int> cpu(std::string_view text) {
    text = trimmed(text);
    int number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    if (number < 0 || number > last_cpu) return std::nullopt;
    return number;
}

/// One rule of the list: `3`, `0-7`, `^5` or `^5-6`.
bool read_rule(std::string_view rule, std::set<int>& in, std::set<int>& out) {
    rule = trimmed(rule);
    if (rule.empty()) return true;
    auto& numbers = rule.front() == '^' ? out : in;
    if (rule.front() == '^') rule.remove_prefix(1);
    const auto dash = rule.find('-');
    const auto first = cpu(rule.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : cpu(rule.substr(dash + 1));
    if (!first || !last || *first > *last) return false;
    for (int number = *first; number <= *last; ++number) numbers.insert(number);
    return true;
}

}  // namespace

std::optional<std::set<int>> parse_cpu_list(std::string_view text) {
    std::set<int> in;
    std::set<int> out;
    while (!text.empty()) {
        const auto comma = text.find(',');
        if (!read_rule(text.substr(0, comma), in, out)) return std::nullopt;
        text = comma == std::string_view::npos ? std::string_view{} : text.substr(comma + 1);
    }
    for (const int number : out) in.erase(number);
    if (in.empty()) return std::nullopt;
    return in;
}

namespace {

constexpr Amount max_vcpus = 65'536;

using Policy = CpuWishes::Policy;
using Threads = CpuWishes::Threads;
using Text = std::optional<std::string>;

const std::initializer_list<std::string_view> policies = {"dedicated", "shared", "mixed"};
const std::initializer_list<std::string_view> thread_policies = {"prefer", "isolate", "require"};

/// One of `words`, or nothing.
Result<Text> said(const std::string& key, Text value,
                  std::initializer_list<std::string_view> words) {
    if (!value || value->empty()) return Text{};
    if (std::ranges::find(words, *value) == words.end()) return not_one_of(key, *value, words);
    return value;
}

Error overruled(const std::string& what, const Text& flavor, const Text& image) {
    return Error{Errc::bad_input, "the flavor's " + what + " is " + in_quotes(*flavor) +
                                      ", which the image's " + in_quotes(*image) +
                                      " may not overrule: Nova refuses that"};
}

/// The flavor's word goes before the image's, which may ask for less of what the flavor allows.
Result<Policy> policy_of(const Wishes& wishes) {
    auto flavor = said("hw:cpu_policy", wishes.of_flavor("cpu_policy"), policies);
    if (!flavor) return flavor.error();
    auto image = said("hw_cpu_policy", wishes.of_image("cpu_policy"), policies);
    if (!image) return image.error();
    const bool overruling =
        *flavor && *image &&
        ((**flavor == "mixed" && **image == "dedicated") ||
         (**flavor == "shared" && (**image == "dedicated" || **image == "mixed")));
    if (overruling) return overruled("hw:cpu_policy", *flavor, *image);
    const Text& policy = *flavor ? *flavor : *image;
    if (!policy) return Policy::none;
    if (*policy == "dedicated") return Policy::dedicated;
    return *policy == "mixed" ? Policy::mixed : Policy::shared;
}

Result<Threads> threads_of(const Wishes& wishes) {
    auto flavor =
        said("hw:cpu_thread_policy", wishes.of_flavor("cpu_thread_policy"), thread_policies);
    if (!flavor) return flavor.error();
    auto image =
        said("hw_cpu_thread_policy", wishes.of_image("cpu_thread_policy"), thread_policies);
    if (!image) return image.error();
    Text policy = *flavor;
    if (!*flavor)
        policy = *image;
    else if (**flavor != "prefer" && *image && **image != **flavor)
        return overruled("hw:cpu_thread_policy", *flavor, *image);
    if (!policy || *policy == "prefer") return Threads::any;
    return *policy == "require" ? Threads::required : Threads::forbidden;
}

/// How many of the server's CPUs a mask names; one that begins with ^ names the others.
Result<Amount> named_by(const std::string& mask, Amount vcpus) {
    const bool excludes = trimmed(mask).starts_with('^');
    const auto cpus = parse_cpu_list(
        excludes && vcpus > 0 ? "0-" + std::to_string(vcpus - 1) + "," + mask : mask);
    if (!cpus || *cpus->rbegin() >= vcpus)
        return Error{Errc::bad_input, "the mask of its dedicated CPUs, " + in_quotes(mask) +
                                          ", names no CPU of its " + std::to_string(vcpus) +
                                          ", or others"};
    return static_cast<Amount>(cpus->size());
}

/// Those of a mixed server that are its own: by a mask of theirs, else those that are realtime.
Result<Amount> own_of_mixed(const Wishes& wishes, Amount vcpus) {
    if (const auto mask = wishes.of_flavor("cpu_dedicated_mask"); mask && !mask->empty()) {
        auto own = named_by(*mask, vcpus);
        if (own && *own == vcpus)
            return Error{Errc::bad_input, "hw:cpu_dedicated_mask=" + printable(*mask, 100) +
                                              " leaves no shared CPU to a mixed server"};
        return own;
    }
    const auto realtime = wishes.of_flavor("cpu_realtime");
    if (!realtime || !means_yes(*realtime))
        return Error{Errc::bad_input,
                     "hw:cpu_policy=mixed does not say which CPUs are dedicated: neither "
                     "hw:cpu_dedicated_mask nor hw:cpu_realtime is there"};
    auto mask = wishes.of_image("cpu_realtime_mask");
    if (!mask || mask->empty()) mask = wishes.of_flavor("cpu_realtime_mask");
    if (!mask || mask->empty()) return vcpus;
    return named_by(*mask, vcpus);
}

/// `bad_input`: Nova would refuse it. Source: nova.virt.hardware, ResourceRequest's
/// _translate_pinning_policies.
Result<CpuWishes> cpu_wishes(const Wishes& wishes) {
    auto policy = policy_of(wishes);
    if (!policy) return policy.error();
    auto threads = threads_of(wishes);
    if (!threads) return threads.error();
    const Amount vcpus = std::clamp<Amount>(wishes.flavor().vcpus, 0, max_vcpus);
    CpuWishes cpus;
    cpus.policy = *policy;
    cpus.threads = *threads;
    if (cpus.policy == Policy::dedicated) cpus.dedicated = vcpus;
    if (cpus.policy == Policy::mixed) {
        auto own = own_of_mixed(wishes, vcpus);
        if (!own) return own.error();
        cpus.dedicated = *own;
        cpus.shared = vcpus - *own;
    }
    if (cpus.dedicated > 0 && wishes.of_flavor("emulator_threads_policy") == "isolate")
        ++cpus.dedicated;
    return cpus;
}

constexpr std::size_t longest_group = 64;

/// Source: os_resource_classes.STANDARDS.
constexpr std::string_view standard_classes[] = {"VCPU",
                                                 "MEMORY_MB",
                                                 "DISK_GB",
                                                 "PCI_DEVICE",
                                                 "SRIOV_NET_VF",
                                                 "NUMA_SOCKET",
                                                 "NUMA_CORE",
                                                 "NUMA_THREAD",
                                                 "NUMA_MEMORY_MB",
                                                 "IPV4_ADDRESS",
                                                 "VGPU",
                                                 "VGPU_DISPLAY_HEAD",
                                                 "NET_BW_EGR_KILOBIT_PER_SEC",
                                                 "NET_BW_IGR_KILOBIT_PER_SEC",
                                                 "PCPU",
                                                 "MEM_ENCRYPTION_CONTEXT",
                                                 "FPGA",
                                                 "PGPU",
                                                 "NET_PACKET_RATE_KILOPACKET_PER_SEC",
                                                 "NET_PACKET_RATE_EGR_KILOPACKET_PER_SEC",
                                                 "NET_PACKET_RATE_IGR_KILOPACKET_PER_SEC"};

bool is_group_character(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
}

}  // namespace

std::optional<GroupedKey> grouped_key(std::string_view key, std::string_view prefix) {
    if (!key.starts_with(prefix)) return std::nullopt;
    key.remove_prefix(prefix.size());
    const auto colon = key.find(':');
    if (colon > longest_group) return std::nullopt;  // or there is none
    const auto group = key.substr(0, colon);
    if (!std::ranges::all_of(group, is_group_character)) return std::nullopt;
    return GroupedKey{group, key.substr(colon + 1)};
}

bool is_resource_class(std::string_view name) {
    return name.starts_with("CUSTOM_") ||
           std::find(std::begin(standard_classes), std::end(standard_classes), name) !=
               std::end(standard_classes);
}

std::string custom_name(std::string_view name) {
    std::string text;
    for (const char c : to_upper(name)) {
        const bool kept = (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (kept || !text.ends_with('_')) text += kept ? c : '_';
    }
    return "CUSTOM_" + text;
}

std::optional<Amount> amount_of(std::string_view text) {
    text = trimmed(text);
    if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
    Amount amount = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), amount);
    if (text.empty() || end != text.data() + text.size()) return std::nullopt;
    if (error == std::errc::result_out_of_range)
        return text.starts_with('-') ? std::nullopt
                                     : std::optional{std::numeric_limits<Amount>::max()};
    if (error != std::errc{} || amount < 0) return std::nullopt;
    return amount;
}

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
        return std::ranges::any_of(groups_, [&](const auto& group) {
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

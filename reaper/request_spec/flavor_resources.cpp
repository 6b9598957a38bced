// What Placement is asked for one server of a flavor.
#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "reaper/model/amount.hpp"
#include "reaper/model/text.hpp"
#include "reaper/request_spec/cpu_list.hpp"
#include "reaper/request_spec/extra_specs.hpp"
#include "reaper/request_spec/request_builder.hpp"

namespace reaper {
namespace {

constexpr Amount mb_in_gb = 1024;
constexpr Amount max_vcpus = 65'536;

const ResourceClass vcpu_class{"VCPU"};
const ResourceClass pcpu_class{"PCPU"};
const ResourceClass memory_class{"MEMORY_MB"};
const ResourceClass disk_class{"DISK_GB"};

std::string spec_of(const ExtraSpecs& specs, const std::string& key) {
    const auto at = specs.find(key);
    return at == specs.end() ? std::string{} : at->second;
}

bool is_true(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(), [](char c) {
        return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    return text == "true" || text == "1" || text == "yes" || text == "on" || text == "t" ||
           text == "y";
}

Amount disk_gb(const Flavor& flavor, bool boot_from_volume) {
    Amount disk = boot_from_volume ? 0 : std::max<Amount>(flavor.root_gb, 0);
    disk = saturating_add(disk, std::max<Amount>(flavor.ephemeral_gb, 0));
    if (flavor.swap_mb > 0) disk = saturating_add(disk, divide_up(flavor.swap_mb, mb_in_gb));
    return disk;
}

/// How many CPUs of a mixed flavor are dedicated; a mask that starts with ^ names the others.
std::variant<Amount, Refused> dedicated_of_mixed(const Flavor& flavor) {
    std::string mask = spec_of(flavor.extra_specs, "hw:cpu_dedicated_mask");
    if (mask.empty()) mask = spec_of(flavor.extra_specs, "hw:cpu_realtime_mask");
    const Amount vcpus = std::clamp<Amount>(flavor.vcpus, 0, max_vcpus);
    const bool excludes = mask.find_first_not_of(' ') != std::string::npos &&
                          mask[mask.find_first_not_of(' ')] == '^';
    const auto cpus = parse_cpu_list(
        excludes && vcpus > 0 ? "0-" + std::to_string(vcpus - 1) + "," + mask : mask);
    if (!cpus)
        return Refused{"the flavor's hw:cpu_policy is mixed, but its dedicated CPUs '" +
                       printable(mask) + "' can't be understood"};
    return static_cast<Amount>(
        std::count_if(cpus->begin(), cpus->end(), [&](int cpu) { return cpu < vcpus; }));
}

/// VCPU and PCPU as the CPU policy shares them out.
std::variant<Resources, Refused> cpus_of(const Flavor& flavor) {
    const Amount vcpus = std::max<Amount>(flavor.vcpus, 0);
    const std::string policy = spec_of(flavor.extra_specs, "hw:cpu_policy");
    Amount dedicated = 0;
    if (policy == "dedicated") dedicated = vcpus;
    if (policy == "mixed") {
        auto counted = dedicated_of_mixed(flavor);
        if (auto* refused = std::get_if<Refused>(&counted)) return std::move(*refused);
        dedicated = std::get<Amount>(counted);
    }
    Resources cpus;
    cpus.set(vcpu_class, vcpus - dedicated);
    const bool own_emulator_cpu =
        spec_of(flavor.extra_specs, "hw:emulator_threads_policy") == "isolate";
    cpus.set(pcpu_class, dedicated > 0 && own_emulator_cpu ? dedicated + 1 : dedicated);
    return cpus;
}

/// Classes that other extra specs ask for: persistent memory, memory encryption.
void add_special(const ExtraSpecs& specs, Resources& resources) {
    if (is_true(spec_of(specs, "hw:mem_encryption")))
        resources.add(ResourceClass{"MEM_ENCRYPTION_CONTEXT"}, 1);
    std::string names = spec_of(specs, "hw:pmem");
    while (!names.empty()) {
        const auto comma = names.find(',');
        if (const auto name = names.substr(0, comma); !name.empty())
            resources.add(ResourceClass{"CUSTOM_PMEM_NAMESPACE_" + name}, 1);
        names = comma == std::string::npos ? std::string{} : names.substr(comma + 1);
    }
}

}  // namespace

std::variant<Resources, Refused> resources_of(const Flavor& flavor, bool boot_from_volume) {
    auto overrides = resource_overrides(flavor.extra_specs);
    if (auto* refused = std::get_if<Refused>(&overrides)) return std::move(*refused);
    const auto& given = std::get<std::map<ResourceClass, Amount>>(overrides);

    Resources resources;
    // Either CPU class given means that the flavor's own number counts for neither.
    if (!given.contains(vcpu_class) && !given.contains(pcpu_class)) {
        auto cpus = cpus_of(flavor);
        if (auto* refused = std::get_if<Refused>(&cpus)) return std::move(*refused);
        resources += std::get<Resources>(cpus);
    }
    resources.set(memory_class, std::max<Amount>(flavor.memory_mb, 0));
    resources.set(disk_class, disk_gb(flavor, boot_from_volume));
    add_special(flavor.extra_specs, resources);
    for (const auto& [resource_class, amount] : given) resources.set(resource_class, amount);
    return resources;
}

}  // namespace reaper

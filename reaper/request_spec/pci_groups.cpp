#include "reaper/request_spec/pci_groups.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "reaper/model/text.hpp"
#include "reaper/request_spec/extra_specs.hpp"

namespace reaper {
namespace {

constexpr std::string_view custom = "CUSTOM_";
/// How the names of os-traits begin.
constexpr std::string_view standard_traits[] = {"COMPUTE_", "HW_", "MISC_", "OWNER_", "STORAGE_"};

std::string class_of(const PciRequest& request) {
    if (request.resource_class.empty())
        return in_capitals("CUSTOM_PCI_" + request.vendor + "_" + request.product);
    const std::string name = in_capitals(request.resource_class);
    return is_resource_class(name) ? name : custom_name(name);
}

std::string trait_name(std::string_view text) {
    const std::string name = in_capitals(text);
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

}  // namespace

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

}  // namespace reaper

#include "reaper/model/aggregate_rules.hpp"

#include <algorithm>
#include <string_view>

namespace reaper {
namespace {

constexpr std::string_view tenant_key = "filter_tenant_id";
constexpr std::string_view trait_key = "trait:";

}  // namespace

bool belongs_to(const AggregateMetadata& metadata, const ProjectId& project) {
    return std::ranges::any_of(metadata, [&](const auto& each) {
        return each.first.starts_with(tenant_key) && each.second == project.str();
    });
}

bool is_zone(const AggregateMetadata& metadata, const std::string& zone) {
    const auto at = metadata.find("availability_zone");
    return at != metadata.end() && at->second == zone;
}

std::optional<std::string> isolating_trait(const AggregateMetadata& metadata,
                                           const std::set<Trait>& required) {
    for (const auto& [key, value] : metadata) {
        if (!key.starts_with(trait_key) || value != "required") continue;
        std::string trait = key.substr(trait_key.size());
        if (!required.contains(Trait{trait})) return trait;
    }
    return std::nullopt;
}

}  // namespace reaper

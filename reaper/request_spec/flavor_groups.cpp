#include "reaper/request_spec/flavor_groups.hpp"

#include <map>
#include <string>
#include <utility>

#include "reaper/model/text.hpp"

namespace reaper {

std::variant<FlavorGroups, Refused> groups_of(const ExtraSpecs& specs) {
    std::map<std::string, RequestGroup> groups;
    FlavorGroups found;
    for (const auto& [key, value] : specs) {
        if (key == "group_policy") found.policy = group_policy_from(value);
        if (const auto parts = grouped_key(key, "resources"); parts && !parts->group.empty()) {
            const auto amount = amount_spec(*parts, value);
            if (!amount) return not_an_amount(key, value);
            groups[std::string{parts->group}].resources.set(ResourceClass{std::string{parts->name}},
                                                            *amount);
        }
        if (const auto parts = grouped_key(key, "trait"); parts && !parts->group.empty()) {
            RequestGroup& group = groups[std::string{parts->group}];
            read_trait(*parts, value, group.required_traits, group.forbidden_traits);
        }
    }
    for (auto& [suffix, group] : groups) {
        if (group == RequestGroup{}) continue;
        group.suffix = suffix;
        found.groups.push_back(std::move(group));
    }
    return found;
}

std::optional<Refused> refused_by_placement(const Request& request) {
    if (request.groups.size() > 1 && !request.group_policy)
        return Refused{"the flavor asks for " + std::to_string(request.groups.size()) +
                       " groups of resources without a group_policy (none or isolate): Placement "
                       "refuses to search for them, so no room can help it"};
    for (const auto& group : request.groups)
        if (group.resources.empty())
            return Refused{"the flavor asks for traits of group '" + printable(group.suffix, 64) +
                           "', but for no resources of it: Placement refuses to search for it, so "
                           "no room can help it"};
    const bool traits = !request.required_traits.empty() || !request.forbidden_traits.empty();
    if (traits && !request.groups.empty() && ungrouped_resources(request).empty())
        return Refused{
            "all resources of the request are in groups, and its traits are in none: "
            "Placement refuses to search for it, so no room can help it"};
    return std::nullopt;
}

}  // namespace reaper

#include "reaper/report/json_groups.hpp"

#include <limits>

#include "reaper/report/json.hpp"
#include "reaper/report/json_placement.hpp"

namespace reaper::report {
using nlohmann::json;

json to_json(const std::vector<RequestGroup>& groups) {
    json array = json::array();
    for (const auto& group : groups) {
        json object{{"suffix", group.suffix},
                    {"resources", to_json(group.resources)},
                    {"required_traits", to_json(group.required_traits)},
                    {"forbidden_traits", to_json(group.forbidden_traits)}};
        if (!group.aggregates.empty()) object["aggregates"] = group.aggregates;
        if (!group.in_tree.empty()) object["in_tree"] = group.in_tree.str();
        array.push_back(std::move(object));
    }
    return array;
}

std::vector<RequestGroup> groups_from(const JsonPlace& in) {
    std::vector<RequestGroup> groups;
    in.each([&](const JsonPlace& each) {
        RequestGroup group;
        group.suffix = each["suffix"].id();
        group.resources = each["resources"].resources();
        group.required_traits = traits_from(each["required_traits"]);
        group.forbidden_traits = traits_from(each["forbidden_traits"]);
        if (const auto aggregates = each.maybe("aggregates"))
            aggregates->each(
                [&](const JsonPlace& any) { group.aggregates.push_back(any.text_set()); });
        group.in_tree = ProviderId{each.text_or_empty("in_tree")};
        groups.push_back(std::move(group));
    });
    return groups;
}

}  // namespace reaper::report

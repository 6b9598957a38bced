#include "reaper/model/request_groups.hpp"

namespace reaper {
namespace {

std::string trait_names(const std::set<Trait>& traits) {
    std::string text;
    for (const auto& trait : traits) text += (text.empty() ? "" : ", ") + trait.str();
    return text;
}

}  // namespace

std::string_view to_string(GroupPolicy policy) {
    return policy == GroupPolicy::isolate ? "isolate" : "none";
}

std::optional<GroupPolicy> group_policy_from(std::string_view text) {
    for (const auto policy : {GroupPolicy::none, GroupPolicy::isolate})
        if (to_string(policy) == text) return policy;
    return std::nullopt;
}

Resources sum_of(const std::vector<RequestGroup>& groups) {
    Resources sum;
    for (const auto& group : groups) sum += group.resources;
    return sum;
}

std::string to_string(const RequestGroup& group) {
    std::string text = group.suffix + ": " + to_string(group.resources);
    if (!group.required_traits.empty()) text += " with " + trait_names(group.required_traits);
    if (!group.forbidden_traits.empty()) text += " without " + trait_names(group.forbidden_traits);
    if (!group.in_tree.empty()) text += " in the tree of " + group.in_tree.str();
    return text;
}

std::string groups_text(const std::vector<RequestGroup>& groups,
                        const std::optional<GroupPolicy>& policy) {
    if (groups.empty()) return "";
    std::string text = "of it from one provider each: ";
    for (const auto& group : groups)
        text += (&group == &groups.front() ? "" : "; ") + to_string(group);
    if (groups.size() > 1)
        text += policy == GroupPolicy::isolate ? " (no two from the same)" : " (or from the same)";
    return text;
}

}  // namespace reaper

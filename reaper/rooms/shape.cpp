#include "reaper/rooms/shape.hpp"

#include <algorithm>
#include <map>
#include <optional>

namespace reaper {
namespace {

std::vector<Need> needs_of(const Resources& resources) {
    std::vector<Need> needs;
    for (const auto& [resource_class, amount] : resources)
        if (amount > 0) needs.push_back(Need{resource_class, amount});
    return needs;
}

std::vector<Take> takes_of(const Resources& resources, const std::vector<Need>& needs) {
    std::vector<Take> takes;
    for (std::size_t need = 0; need < needs.size(); ++need)
        if (const Amount amount = resources.get(needs[need].resource_class); amount > 0)
            takes.push_back(Take{need, amount});
    return takes;
}

/// One class alone, from any provider: the same as a class in no group, where nothing else of the
/// slot can come between.
bool means_nothing(const RequestGroup& group, const Request& request) {
    if (group.resources.size() != 1 || !group.required_traits.empty() ||
        !group.forbidden_traits.empty() || !group.aggregates.empty() || !group.in_tree.empty())
        return false;
    const bool others_matter =
        !request.required_traits.empty() || !request.forbidden_traits.empty() ||
        (request.group_policy == GroupPolicy::isolate && request.groups.size() > 1);
    const auto& [resource_class, amount] = *group.resources.begin();
    return !others_matter && request.resources.get(resource_class) == amount;
}

}  // namespace

Amount Shape::least_part(std::size_t need) const {
    Amount least = needs_[need].amount;
    if (parts_ != nullptr)
        for (const auto& part : parts_->parts)
            for (const auto& take : part.takes)
                if (take.need == need) least = std::min(least, take.amount);
    return least;
}

Shape shape_of(const Resources& resources) {
    return Shape{needs_of(resources)};
}

Shape shape_of(const Request& request) {
    std::vector<Need> needs = needs_of(request.resources);
    auto parts = std::make_shared<SlotParts>();
    parts->isolate = request.group_policy == GroupPolicy::isolate;
    parts->together = request.required_traits;
    Resources ungrouped = request.resources;
    for (const auto& group : request.groups) {
        if (means_nothing(group, request)) continue;
        ungrouped -= group.resources;
        SlotPart part;
        part.suffix = group.suffix;
        part.takes = takes_of(group.resources, needs);
        part.required = group.required_traits;
        part.forbidden = group.forbidden_traits;
        part.aggregates = group.aggregates;
        part.in_tree = group.in_tree;
        parts->parts.push_back(std::move(part));
    }
    const bool traits = !request.required_traits.empty() || !request.forbidden_traits.empty();
    if (parts->parts.empty() && !traits) return Shape{std::move(needs)};
    for (const auto& take : takes_of(ungrouped, needs)) {
        SlotPart part;
        part.takes = {take};
        part.forbidden = request.forbidden_traits;
        parts->parts.push_back(std::move(part));
    }
    return Shape{std::move(needs), std::move(parts)};
}

std::string to_string(const SlotPart& part, const Shape& shape) {
    std::string text;
    for (const auto& take : part.takes)
        text += (text.empty() ? "" : " ") + shape[take.need].resource_class.str() + "=" +
                std::to_string(take.amount);
    return part.grouped() ? text + " (group " + part.suffix + ")" : text;
}

}  // namespace reaper

#include "reaper/model/request.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "reaper/model/project_names.hpp"
#include "reaper/model/text.hpp"

namespace reaper {
namespace {

std::string trait_names(const std::set<Trait>& traits) {
    return joined(traits, ", ", [](const Trait& trait) { return trait.str(); });
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

namespace {

constexpr std::array<std::pair<Operation, std::string_view>, 8> operation_names{{
    {Operation::build, "build"},
    {Operation::resize, "resize"},
    {Operation::migrate, "migrate"},
    {Operation::live_migrate, "live-migrate"},
    {Operation::rebuild, "rebuild"},
    {Operation::evacuate, "evacuate"},
    {Operation::unshelve, "unshelve"},
    {Operation::manual, "manual"},
}};

constexpr std::array<std::pair<RequestSource, std::string_view>, 8> source_names{{
    {RequestSource::nova_failure, "nova-failure"},
    {RequestSource::unshelve, "unshelve"},
    {RequestSource::operator_, "operator"},
    {RequestSource::gateway, "gateway"},
    {RequestSource::reservation, "reservation"},
    {RequestSource::oversubscription, "oversubscription"},
    {RequestSource::watermark, "watermark"},
    {RequestSource::life_span, "life-span"},
}};

}  // namespace

std::string_view to_string(Operation operation) {
    return word_in(operation_names, operation);
}

std::optional<Operation> operation_from(std::string_view text) {
    return value_in(operation_names, text);
}

bool is_move(Operation operation) {
    switch (operation) {
        case Operation::resize:
        case Operation::migrate:
        case Operation::live_migrate:
        case Operation::evacuate:
        case Operation::unshelve: return true;
        case Operation::build:
        case Operation::rebuild:
        case Operation::manual: return false;
    }
    return false;
}

std::string_view to_string(RequestSource source) {
    return word_in(source_names, source);
}

std::optional<RequestSource> request_source_from(std::string_view text) {
    return value_in(source_names, text);
}

bool is_awaited(RequestSource source) {
    return source != RequestSource::reservation && source != RequestSource::oversubscription &&
           source != RequestSource::watermark && source != RequestSource::life_span;
}

Resources ungrouped_resources(const Request& request) {
    return request.groups.empty() ? request.resources : request.resources - sum_of(request.groups);
}

std::set<Trait> all_required_traits(const Request& request) {
    std::set<Trait> traits = request.required_traits;
    for (const auto& group : request.groups)
        traits.insert(group.required_traits.begin(), group.required_traits.end());
    return traits;
}

Request by_fallback(Request request) {
    SlotShape shape = std::move(*request.fallback);
    request.resources = std::move(shape.resources);
    request.required_traits = std::move(shape.required_traits);
    request.forbidden_traits = std::move(shape.forbidden_traits);
    request.fallback.reset();
    return request;
}

bool needs_room_first(const Request& request) {
    const bool pinned = request.resources.get(ResourceClass{"PCPU"}) > 0;
    return pinned || std::ranges::any_of(request.flavor_extra_specs, [](const auto& each) {
               return each.first == "hw:mem_page_size" || each.first == "hw:numa_nodes" ||
                      each.first == "pci_passthrough:alias";
           });
}

bool asks_for_traits(const Request& request) {
    return !request.required_traits.empty() || !request.forbidden_traits.empty() ||
           !request.root_required_traits.empty() ||
           std::ranges::any_of(request.groups, [](const RequestGroup& group) {
               return !group.required_traits.empty() || !group.forbidden_traits.empty();
           });
}

std::optional<std::string> why_expired(const Request& request, TimePoint now) {
    if (request.deadline == TimePoint{} || now <= request.deadline) return std::nullopt;
    return "the request is " + format_duration(now - request.sent_at) +
           " old; what is older than " + format_duration(request.deadline - request.sent_at) +
           " is not acted on (if it is not: this machine's clock is ahead of Nova's)";
}

std::string requester_text(const Request& request, const ServerId& requester) {
    const auto name = request.requester_names.find(requester);
    if (name == request.requester_names.end()) return requester.str();
    return printable(name->second, 255) + " (" + requester.str() + ")";
}

std::string to_string(const Request& request) {
    if (request.correction)
        return counted(request.correction->servers.size(), "server") + " to go from " +
               printable(request.correction->host_name, 64) + " (" + request.id.str() + ")";
    return std::to_string(request.slots) + " x " + to_string(request.resources) + " for project " +
           project_text(request.project, request.project_name) + " (" +
           std::string{to_string(request.operation)} + ", " +
           (request.groups.empty() ? ""
                                   : groups_text(request.groups, request.group_policy) + ", ") +
           (request.phases == Phases{} ? "" : "res-type " + to_string(request.phases) + ", ") +
           request.id.str() + ")";
}

}  // namespace reaper

#include "reaper/request_spec/described_request.hpp"

#include <algorithm>
#include <utility>

#include "reaper/model/resources_text.hpp"
#include "reaper/model/text.hpp"

namespace reaper {
namespace {

std::string shown(std::string_view text) {
    return "'" + printable(text, 100) + "'";
}

Error wrong(std::string what) {
    return Error{Errc::bad_input, std::move(what)};
}

struct WrittenTrait {
    std::string name;
    bool required = true;
};

Result<WrittenTrait> trait_of(std::string_view text) {
    const std::size_t equals = text.find('=');
    const std::string_view name = text.substr(0, equals);
    if (!is_upper_name(name))
        return wrong(shown(name) +
                     " is not a trait; expected NAME=required or NAME=forbidden, of a name such as "
                     "CUSTOM_GPU");
    const std::string_view rule =
        equals == std::string_view::npos ? "required" : text.substr(equals + 1);
    if (rule != "required" && rule != "forbidden")
        return wrong("trait " + std::string(name) + " is " + shown(rule) +
                     "; expected required or forbidden");
    return WrittenTrait{std::string(name), rule == "required"};
}

bool is_trait(std::string_view part) {
    return part.ends_with("=required") || part.ends_with("=forbidden");
}

}  // namespace

Result<void> add_trait(DescribedRequest& described, std::string_view text) {
    auto trait = trait_of(text);
    if (!trait) return trait.error();
    auto& traits = trait->required ? described.required_traits : described.forbidden_traits;
    traits.push_back(std::move(trait->name));
    return {};
}

Result<void> add_group(DescribedRequest& described, std::string_view text) {
    RequestGroup group;
    group.suffix = std::to_string(described.groups.size() + 1);
    std::string amounts;
    for (std::size_t start = 0; start <= text.size();) {
        const std::size_t comma = std::min(text.find(',', start), text.size());
        const std::string_view part = text.substr(start, comma - start);
        start = comma + 1;
        if (!is_trait(part)) {
            amounts += (amounts.empty() ? "" : ",") + std::string(part);
            continue;
        }
        auto trait = trait_of(part);
        if (!trait) return trait.error();
        auto& traits = trait->required ? group.required_traits : group.forbidden_traits;
        traits.emplace(std::move(trait->name));
    }
    auto resources = parse_resources(amounts);
    if (!resources) return resources.error();
    group.resources = std::move(*resources);
    described.groups.push_back(std::move(group));
    return {};
}

std::string written(const RequestGroup& group) {
    std::string text;
    const auto append = [&](const std::string& part) { text += (text.empty() ? "" : ",") + part; };
    for (const auto& [resource_class, amount] : group.resources)
        append(resource_class.str() + "=" + std::to_string(amount));
    for (const auto& trait : group.required_traits) append(trait.str() + "=required");
    for (const auto& trait : group.forbidden_traits) append(trait.str() + "=forbidden");
    return text;
}

Result<void> set_group_policy(DescribedRequest& described, std::string_view text) {
    described.group_policy = group_policy_from(text);
    if (!text.empty() && !described.group_policy)
        return wrong("is " + shown(text) + "; expected none or isolate");
    if (described.groups.size() > 1 && !described.group_policy)
        return wrong("several groups need one: none (they may come from one provider) or isolate");
    return {};
}

Request request_of(const DescribedRequest& described, RequestId id, ProjectId project,
                   TimePoint now) {
    Request request;
    request.id = std::move(id);
    request.operation = Operation::manual;
    request.source = RequestSource::operator_;
    request.project = std::move(project);
    request.resources = described.resources + sum_of(described.groups);
    request.groups = described.groups;
    request.group_policy = described.group_policy;
    request.slots = described.slots;
    request.availability_zone = described.availability_zone;
    for (const auto& name : described.required_traits) request.required_traits.insert(Trait{name});
    for (const auto& name : described.forbidden_traits)
        request.forbidden_traits.insert(Trait{name});
    request.sent_at = now;
    request.phases = described.phases;
    request.approved = described.approved;
    if (!described.res_type.empty())
        request.phases_because = "its description '" + printable(described.res_type, 100) + "'";
    return request;
}

}  // namespace reaper

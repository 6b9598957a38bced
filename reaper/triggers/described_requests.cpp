#include "reaper/triggers/described_requests.hpp"

#include <set>
#include <utility>

#include "config/request_list.hpp"
#include "reaper/model/resources_text.hpp"
#include "reaper/model/text.hpp"
#include "reaper/request_spec/res_type_query.hpp"

namespace reaper {
namespace {

/// At most this many mistakes are listed.
constexpr std::size_t max_listed = 100;

Error wrong(std::string what) {
    return Error{Errc::bad_input, std::move(what)};
}

Result<DescribedRequest> described_of(const config::RequestEntry& entry) {
    DescribedRequest described;
    described.id = entry.id;
    described.project = entry.project;
    described.slots = entry.slots;
    if (!entry.zone.empty()) described.availability_zone = entry.zone;
    described.res_type = entry.res_type;
    if (!entry.res_type.empty()) {
        const auto phases = phases_of(entry.res_type);
        if (!phases) return wrong("res_type: " + phases.error().what);
        described.phases = *phases;
    }
    described.flavor = entry.flavor;
    if (entry.flavor.empty()) {
        auto resources = parse_resources(entry.resources);
        if (!resources) return wrong("resources: " + resources.error().what);
        described.resources = std::move(*resources);
    }
    for (const std::string& text : entry.traits)
        if (const auto added = add_trait(described, text); !added)
            return wrong("traits: " + added.error().what);
    for (const std::string& text : entry.groups)
        if (const auto added = add_group(described, text); !added)
            return wrong("groups: " + added.error().what);
    if (const auto set = set_group_policy(described, entry.group_policy); !set)
        return wrong("group_policy: " + set.error().what);
    return described;
}

}  // namespace

std::variant<std::vector<DescribedRequest>, std::vector<std::string>> read_requests(
    const std::string& name, const std::string& text) {
    const auto listed = config::read_request_list(name, text);
    std::vector<std::string> errors;
    if (const auto* found = std::get_if<std::vector<config::ConfigError>>(&listed)) {
        for (const auto& error : *found) errors.push_back(config::to_string(error));
        return errors;
    }
    std::vector<DescribedRequest> requests;
    std::set<std::string> ids;
    for (const auto& entry : std::get<std::vector<config::RequestEntry>>(listed)) {
        auto described = described_of(entry);
        if (described && !entry.id.empty() && !ids.insert(entry.id).second)
            described = wrong("id: '" + printable(entry.id) + "' is there twice");
        if (described) {
            requests.push_back(std::move(*described));
        } else {
            errors.push_back(name + ":" + std::to_string(entry.line) + ": " +
                             described.error().what);
        }
    }
    if (errors.size() > max_listed) {
        errors.resize(max_listed);
        errors.push_back(name + ": there are more mistakes");
    }
    if (!errors.empty()) return errors;
    return requests;
}

}  // namespace reaper

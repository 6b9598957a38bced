// Extra specs of flavors (`KEY=VALUE` in each line) and lists of CPUs.
#include "reaper/request_spec/extra_specs.hpp"

#include "reaper/request_spec/cpu_list.hpp"
#include "reaper/request_spec/flavor_groups.hpp"
#include "tests/fuzz/fuzz.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace reaper;
    auto text = fuzz::text_of(data, size);
    if (const auto cpus = parse_cpu_list(text.substr(0, 1'024))) {
        fuzz::require(!cpus->empty(), "a list of CPUs is not empty");
        fuzz::require(*cpus->begin() >= 0 && *cpus->rbegin() <= 65'535, "CPUs have small numbers");
    }
    ExtraSpecs specs;
    while (!text.empty()) {
        const auto line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(text.size(), line.size() + 1));
        const auto equals = std::min(line.find('='), line.size());
        const auto value = equals < line.size() ? line.substr(equals + 1) : std::string_view();
        specs.insert_or_assign(std::string(line.substr(0, equals)), std::string(value));
    }
    const auto overrides = resource_overrides(specs);
    if (const auto* amounts = std::get_if<0>(&overrides)) {
        for (const auto& [resource_class, amount] : *amounts)
            fuzz::require(amount >= 0, "no amount is negative");
    } else {
        fuzz::require_one_line(std::get<1>(overrides).reason);
    }
    const auto groups = groups_of(specs);
    if (const auto* found = std::get_if<FlavorGroups>(&groups)) {
        for (const auto& group : found->groups) {
            fuzz::require(!group.suffix.empty(), "a group has a suffix");
            for (const auto& [resource_class, amount] : group.resources)
                fuzz::require(amount > 0, "no group asks for nothing of a class");
        }
        Request request;
        request.groups = found->groups;
        request.group_policy = found->policy;
        request.resources = sum_of(found->groups);
        if (const auto refused = refused_by_placement(request))
            fuzz::require_one_line(refused->reason);
    } else {
        fuzz::require_one_line(std::get<Refused>(groups).reason);
    }
    std::set<Trait> required;
    std::set<Trait> forbidden;
    read_traits(specs, required, forbidden);
    return 0;
}

#include "reaper/oversubscription/named_hosts.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "reaper/model/text.hpp"
#include "reaper/oversubscription/host_facts.hpp"

namespace reaper {
namespace {

std::string no_host_text(const NamedHosts& name, std::size_t hosts) {
    return in_quotes(name.text) + " covers none of " + counted(hosts, "host") + ": " +
           (name.aggregate.empty() ? "no hypervisor and no nova-compute service has such a name"
                                   : "none is in an aggregate of that name or UUID") +
           "; correct it, or take it out";
}

}  // namespace

bool NamedHosts::cover(const HostFacts& facts) const {
    if (!aggregate.empty()) return facts.aggregates.contains(aggregate);
    return matches_glob(pattern, facts.name) || matches_glob(pattern, facts.service_host);
}

std::vector<IdleName> idle_names(const std::vector<std::string>& hosts,
                                 const std::vector<std::string>& aggregates,
                                 const Estimator& estimator, const std::vector<HostFacts>& cloud) {
    std::vector<IdleName> idle;
    if (cloud.empty()) return idle;
    const auto covered = [&](const NamedHosts& name) {
        std::vector<const HostFacts*> found;
        for (const HostFacts& facts : cloud)
            if (name.cover(facts)) found.push_back(&facts);
        return found;
    };
    const std::string section = "oversubscription.";
    std::vector<NamedHosts> where;
    for (const auto& pattern : hosts) where.push_back({"hosts", pattern, pattern, {}});
    for (const auto& aggregate : aggregates)
        where.push_back({"aggregates", aggregate, {}, aggregate});
    for (const NamedHosts& name : where)
        if (covered(name).empty())
            idle.push_back({true, section + name.key, no_host_text(name, cloud.size())});
    for (const NamedHosts& name : estimator.named()) {
        const auto found = covered(name);
        const std::string key = section + "estimator." + name.key;
        if (found.empty())
            idle.push_back({true, key, no_host_text(name, cloud.size())});
        else if (std::none_of(found.begin(), found.end(), [&](const HostFacts* facts) {
                     return sells_room(*facts, hosts, aggregates);
                 }))
            idle.push_back({false, key,
                            in_quotes(name.text) + " covers " + counted(found.size(), "host") +
                                ", and room of none is sold: " + section + "hosts and " + section +
                                "aggregates leave them out"});
    }
    return idle;
}

}  // namespace reaper

#include "reaper/oversubscription/host_facts.hpp"

#include <algorithm>

#include "reaper/model/text.hpp"

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
        else if (std::ranges::none_of(found, [&](const HostFacts* facts) {
                     return sells_room(*facts, hosts, aggregates);
                 }))
            idle.push_back({false, key,
                            in_quotes(name.text) + " covers " + counted(found.size(), "host") +
                                ", and room of none is sold: " + section + "hosts and " + section +
                                "aggregates leave them out"});
    }
    return idle;
}

HostFacts facts_of(const Host& host) {
    const ResourceClass ordinary{"VCPU"};
    HostFacts facts;
    facts.id = host.id;
    facts.name = host.name;
    facts.service_host = host.service_host;
    facts.aggregates = host.aggregates;
    for (const auto& [uuid, aggregate] : host.member_of.get()) {
        facts.aggregates.insert(uuid);
        facts.aggregates.insert(aggregate.name);
    }
    for (const auto& provider : host.providers) {
        const auto inventory = provider.inventories.find(ordinary);
        if (inventory == provider.inventories.end()) continue;
        facts.vcpus += inventory->second.total - inventory->second.reserved;
        facts.allocation_ratio = inventory->second.allocation_ratio;
        facts.exact = facts.exact && !inventory->second.capacity_only;
        facts.allocated += provider.used.get(ordinary);
    }
    return facts;
}

std::optional<double> vcpus_of_root(const Host& host) {
    static const ResourceClass vcpu{"VCPU"};
    if (host.providers.empty()) return std::nullopt;
    const auto at = host.root().inventories.find(vcpu);
    if (at == host.root().inventories.end() || at->second.capacity_only || at->second.total <= 0)
        return std::nullopt;
    return static_cast<double>(at->second.total);
}

HostFacts facts_of(const HypervisorRecord& host, const std::vector<AggregateRecord>& aggregates) {
    HostFacts facts;
    facts.id = host.id;
    facts.name = host.name;
    facts.service_host = host.service_host;
    for (const auto& aggregate : aggregates)
        if (std::ranges::find(aggregate.hosts, host.service_host) != aggregate.hosts.end())
            facts.aggregates.insert({aggregate.name, aggregate.uuid});
    return facts;
}

bool sells_room(const HostFacts& facts, const std::vector<std::string>& hosts,
                const std::vector<std::string>& aggregates) {
    const bool named = std::ranges::any_of(hosts, [&](const std::string& pattern) {
        return matches_glob(pattern, facts.name) || matches_glob(pattern, facts.service_host);
    });
    return named && (aggregates.empty() ||
                     std::ranges::any_of(aggregates, [&](const std::string& aggregate) {
                         return facts.aggregates.contains(aggregate);
                     }));
}

void HostNames::add(const HostFacts& facts) {
    add(facts.name, facts.id);
    add(facts.service_host, facts.id);
}

void HostNames::add(const std::string& name, const HostId& host) {
    if (name.empty()) return;
    const auto [at, fresh] = by_name_.emplace(to_lower(name), host);
    if (!fresh && at->second != host) at->second = HostId{};
}

const HostId* HostNames::named(const std::string& name) const {
    const auto at = by_name_.find(name);
    return at == by_name_.end() || at->second.empty() ? nullptr : &at->second;
}

std::optional<HostId> HostNames::find(std::string_view label) const {
    const std::string name = to_lower(label);
    const HostId* found = named(name);
    const auto colon = name.rfind(':');
    if (found == nullptr && colon != std::string::npos) {
        std::string host = name.substr(0, colon);
        const bool number = colon + 1 < name.size() &&
                            name.find_first_not_of("0123456789", colon + 1) == std::string::npos;
        if (host.size() > 2 && host.front() == '[' && host.back() == ']')
            host = host.substr(1, host.size() - 2);
        if (number) found = named(host);
    }
    return found == nullptr ? std::nullopt : std::optional{*found};
}

}  // namespace reaper

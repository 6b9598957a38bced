// What nova-scheduler asks of Placement.
#include "tests/cloudsim/core/scheduler.hpp"

namespace reaper::cloudsim {

namespace {

constexpr std::size_t max_placement_results = 1000;

/// `trait:NAME=required|forbidden`, `trait1:NAME=required`
void add_traits(World& world, const Flavor& flavor, CandidateQuery& query) {
    for (const auto& [key, value] : flavor.extra_specs) {
        const auto colon = key.find(':');
        if (!key.starts_with("trait") || colon == std::string::npos) continue;
        RequestGroup& group = query.groups[key.substr(5, colon - 5)];
        const NameId trait = world.names.id(key.substr(colon + 1));
        if (value == "required") group.required.push_back({trait});
        if (value == "forbidden") group.forbidden.insert(trait);
    }
}

void add_zone(World& world, const Placing& placing, CandidateQuery& query) {
    if (placing.zone.empty()) return;
    std::set<Uuid> wanted;
    for (const auto& aggregate : world.nova.aggregates) {
        const auto zone = aggregate->metadata.find("availability_zone");
        if (zone != aggregate->metadata.end() && zone->second == placing.zone)
            wanted.insert(aggregate->id);
    }
    if (!wanted.empty()) query.groups[""].member_of.push_back(std::move(wanted));
}

void add_isolation(World& world, const Placing& placing, CandidateQuery& query) {
    if (!world.settings.tenant_isolation) return;
    for (const auto& aggregate : world.nova.aggregates) {
        bool isolated = false;
        bool ours = false;
        for (const auto& [key, value] : aggregate->metadata)
            if (key.starts_with("filter_tenant_id")) {
                isolated = true;
                ours = ours || value == world.names.text(placing.project);
            }
        if (isolated && !ours) query.groups[""].not_member_of.insert(aggregate->id);
    }
}

/// Nova's isolate_aggregates.
void add_trait_isolation(World& world, CandidateQuery& query) {
    if (!world.settings.trait_isolation) return;
    std::set<NameId> required;
    for (const auto& [suffix, group] : query.groups)
        for (const auto& any_of : group.required) required.insert(any_of.begin(), any_of.end());
    for (const auto& aggregate : world.nova.aggregates)
        for (const auto& [key, value] : aggregate->metadata)
            if (key.starts_with("trait:") && value == "required" &&
                !required.contains(world.names.id(key.substr(6))))
                query.groups[""].not_member_of.insert(aggregate->id);
}

}  // namespace

CandidateQuery query_for(World& world, const Placing& placing) {
    CandidateQuery query;
    query.limit = max_placement_results;
    for (const auto& [suffix, amounts] : resources_of(*placing.flavor, placing.image == nullptr))
        for (const auto& [name, amount] : amounts)
            query.groups[suffix].resources.emplace_back(world.names.id(name), amount);
    add_traits(world, *placing.flavor, query);
    add_zone(world, placing, query);
    add_isolation(world, placing, query);
    add_trait_isolation(world, query);
    query.root_forbidden.insert(world.names.id("COMPUTE_STATUS_DISABLED"));
    if (const auto policy = placing.flavor->extra_specs.find("group_policy");
        policy != placing.flavor->extra_specs.end())
        query.isolate = policy->second == "isolate";
    const std::string& only = placing.forced.empty() ? placing.host : placing.forced;
    if (!only.empty()) {
        const Host* host = world.nova.find_host(only);
        query.groups[""].in_tree = host ? host->provider->uuid : Uuid{};
    }
    return query;
}

}  // namespace reaper::cloudsim

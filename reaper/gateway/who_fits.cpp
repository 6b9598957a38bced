#include "reaper/gateway/who_fits.hpp"

#include <algorithm>

#include "reaper/model/aggregate_rules.hpp"
#include "reaper/request_spec/admitted_room.hpp"
#include "reaper/request_spec/request_builder.hpp"
#include "reaper/request_spec/res_type_query.hpp"

namespace reaper {
namespace {

/// Does it say by traits what the query says? (An image may say more than its flavor.)
bool says_the_same(const Request& request, const CandidatesQuery& query) {
    const auto& said = query.res_type;
    if (said.empty()) return request.res_type_traits.empty();
    return !request.phases_because.empty() &&
           std::all_of(request.res_type_traits.begin(), request.res_type_traits.end(),
                       [&](const Trait& trait) {
                           const auto constraint = res_type_constraint_of(trait.str(), true);
                           return constraint &&
                                  std::find(said.begin(), said.end(), *constraint) != said.end();
                       });
}

/// A zone that the query names is the request's: without one of its own, it has none to name. What
/// else an aggregate is for, as a project, says nothing against it.
bool in_its_zone(const Request& request, const CandidatesQuery& query,
                 const HostAggregates& named) {
    const auto speaks_against = [&](const std::string& uuid) {
        const auto known = named.find(uuid);
        if (known == named.end()) return false;
        const AggregateMetadata& metadata = known->second.metadata;
        if (!metadata.contains("availability_zone") || belongs_to(metadata, request.project))
            return false;
        return !request.availability_zone || !is_zone(metadata, *request.availability_zone);
    };
    const auto& asked = request.placement.aggregates;
    return std::none_of(query.aggregates.begin(), query.aggregates.end(), [&](const auto& any_of) {
        return !any_of.empty() && std::find(asked.begin(), asked.end(), any_of) == asked.end() &&
               std::all_of(any_of.begin(), any_of.end(), speaks_against);
    });
}

/// Does the host belong to one of these aggregates, for nova-scheduler?
bool in_one_of(const Host& host, const std::set<std::string>& aggregates) {
    const auto wanted = [&](const std::string& id) { return aggregates.contains(id); };
    if (host.placement_aggregates)
        return std::any_of(host.placement_aggregates->begin(), host.placement_aggregates->end(),
                           wanted);
    const HostAggregates& known = host.member_of.get();
    return std::any_of(known.begin(), known.end(),
                       [&](const auto& each) { return wanted(each.first); });
}

}  // namespace

HostAggregates named_aggregates(const CandidatesQuery& query, const CloudCache& cache) {
    std::set<std::string> missing;
    for (const auto& any_of : query.aggregates) missing.insert(any_of.begin(), any_of.end());
    HostAggregates named;
    if (missing.empty()) return named;
    for (const Host* const host : cache.hosts()) {
        for (const auto& [uuid, aggregate] : host->member_of.get())
            if (missing.erase(uuid) > 0) named.emplace(uuid, aggregate);
        if (missing.empty()) break;
    }
    return named;
}

std::optional<std::string> narrow(Request& request, const CandidatesQuery& query,
                                  const CloudCache& cache) {
    request = as_asked(std::move(request), query);
    if (!query.in_tree.empty()) {
        const Host* const host = cache.find(query.in_tree);
        if (host == nullptr) return "it asks for a host that is not known";
        request.placement.only_hosts = {host->service_host};
        request.placement.why_only = "asked for";
    }
    if (!query.forbidden_aggregates.empty())
        for (const Host* const host : cache.hosts())
            if (in_one_of(*host, query.forbidden_aggregates))
                request.excluded_hosts.emplace(host->service_host,
                                               "it is in an aggregate that is not asked for");
    return std::nullopt;
}

bool within(const Resources& resources, const Resources& asked) {
    return resources.fits_in(asked);
}

bool fits(const Request& request, const CandidatesQuery& query, const HostAggregates& named) {
    if (!says_the_same(request, query) || !in_its_zone(request, query, named)) return false;
    return asked_as(request, query) != AskedAs::other ||
           within(request.resources, query.shape.resources);
}

bool may_be_offered(const CandidatesQuery& query) {
    return query.groups.empty() && query.shape.resources.get(ResourceClass{"PCPU"}) == 0;
}

bool alike(const Request& a, const Request& b) {
    return a.project == b.project && a.phases == b.phases && a.slots == b.slots &&
           a.resources == b.resources && a.flavor_extra_specs == b.flavor_extra_specs &&
           a.availability_zone == b.availability_zone && a.placement == b.placement;
}

bool may_be_for(const ServerRecord& record, const CandidatesQuery& query) {
    const auto takes = resources_of(record.flavor, record.boot_from_volume);
    const auto* const resources = std::get_if<Resources>(&takes);
    return resources == nullptr || within(*resources, query.shape.resources);
}

bool admits_no_room(const ServerRecord& booting, const SchedulerRules& rules) {
    const auto admitted = admitted_room(booting.server.metadata, booting.flavor.extra_specs, {},
                                        rules.res_type_traits);
    return std::holds_alternative<Refused>(admitted);
}

std::map<std::string, std::vector<ServerRecord>> by_reservation(
    const std::vector<ServerRecord>& servers) {
    std::map<std::string, std::vector<ServerRecord>> groups;
    for (const auto& record : servers) {
        const std::string& told = record.reservation;
        groups[told.empty() ? record.server.id.str() : told].push_back(record);
    }
    return groups;
}

}  // namespace reaper

// Places of Placement's answer: how many of them nova-scheduler takes, as far as it is known.
#include <algorithm>
#include <utility>

#include "reaper/gateway/placement_gateway.hpp"
#include "reaper/planner/constraint_checker.hpp"

namespace reaper {
namespace {

/// Placement does not know that a compute service is down.
bool is_down(const Host& host) {
    return !host.up || !host.enabled;
}

bool in_company(const PlacementConstraints& placement) {
    return placement.group.apart() || placement.group.together() || !placement.with.empty() ||
           !placement.apart_from.empty();
}

/// A reason of nova-scheduler's that Placement does not know. (Of aggregates it has the last word,
/// and which hosts are watched is a matter of culls.)
bool binds(const ConstraintChecker::Refusal& refusal) {
    if (!refusal) return false;
    switch (refusal->first) {
        case RejectionCode::isolated:
        case RejectionCode::disabled:
        case RejectionCode::other_cell:
        case RejectionCode::server_group: return true;
        default: return false;
    }
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

/// Has Placement offered places for all of its servers? Of few that servers of a group or of hints
/// may have, some may be gone by what is not known yet: the planner has to tell, which reads anew.
bool PlacementGateway::is_enough(const Candidates& candidates, const Request& wanted) const {
    const Amount places = places_for(wanted, candidates);
    if (in_company(wanted.placement) && places < few_places) return false;
    return places >= wanted.slots;
}

/// Besides on hosts of which it is known that nova-scheduler takes none of them.
Amount PlacementGateway::usable_places(const Candidates& candidates) const {
    std::set<HostId> down;
    for (const HostId& id : candidates.hosts())
        if (const Host* const host = dependencies_.refresher.cache().find(id);
            host != nullptr && is_down(*host))
            down.insert(id);
    return candidates.places_besides(down);
}

/// So many that are up that nobody has to look how much room they have; and none of all that it
/// names has any that is promised to others.
bool PlacementGateway::names_many_hosts(std::string_view body, const RequestId& id) const {
    const bool promises = !promised_.none();
    // A few of them may be down.
    const std::size_t most = many_places + many_places / 2;
    const auto hosts = quick_hosts_of(body, promises ? all_hosts : most);
    if (promises && std::any_of(hosts.begin(), hosts.end(), [&](const HostId& host) {
            return promised_.any_to_others(host, id);
        }))
        return false;
    return std::count_if(hosts.begin(), hosts.end(), [&](const HostId& host) {
               const Host* const known = dependencies_.refresher.cache().find(host);
               return known == nullptr || !is_down(*known);
           }) >= many_places;
}

/// Of its servers, besides on hosts that are no place for it. The filters of nova-scheduler's that
/// the planner knows count: where servers of its group are, hints, aggregates, cells.
Amount PlacementGateway::places_for(const Request& wanted, const Candidates& candidates) const {
    const CloudCache& cache = dependencies_.refresher.cache();
    SchedulerRules rules = dependencies_.scheduler();
    rules.watched.clear();
    const ConstraintChecker checker{wanted, &rules, cache.index(), dependencies_.rooms.ledger()};
    std::set<HostId> no_places;
    for (const HostId& id : candidates.hosts()) {
        const Host* const host = cache.find(id);
        if (host != nullptr &&
            (is_down(*host) || wanted.excluded_hosts.contains(host->service_host) ||
             binds(checker.by_aggregates(host->member_of)) || binds(checker.by_host(*host))))
            no_places.insert(id);
    }
    Amount sum = 0, most = 0;
    for (auto [id, places] : candidates.places_by_host(no_places)) {
        if (const Host* const host = cache.find(id))
            places = std::min(places, checker.max_slots(*host));
        sum += places;
        most = std::max(most, places);
    }
    return checker.all_on_one_host() ? most : sum;
}

/// With those that are kept for the request.
Amount PlacementGateway::places_of(const Request& wanted, const Candidates& candidates) const {
    std::set<HostId> hosts;
    for (const KeptRoom& room : dependencies_.kept_rooms.kept_for(wanted.id))
        hosts.insert(room.host);
    Amount places = places_for(wanted, candidates);
    for (const auto* const promise : dependencies_.rooms.ledger().promises_of(wanted.id))
        if (hosts.contains(promise->host)) places += promise->kept();
    return places;
}

/// What was freed for it is to be taken by it, not what came free elsewhere meanwhile: else its
/// victims died for others.
void PlacementGateway::keep_to_its_room(const Request& wanted, Asked& asked) const {
    std::set<HostId> told = asked.candidates->hosts();
    for (const KeptRoom& room : dependencies_.kept_rooms.kept_for(wanted.id))
        told.insert(room.host);
    std::set<HostId> own;
    Amount open = 0;
    for (const auto* const promise : dependencies_.rooms.ledger().promises_of(wanted.id)) {
        if (promise->open() == 0 || !told.contains(promise->host)) continue;
        own.insert(promise->host);
        open += promise->open();
    }
    if (open >= wanted.slots && asked.candidates->keep_to_hosts(own))
        asked.answer = own_answer(*asked.candidates);
}

/// Those that the query wants hosts to be members of, as far as they have any.
HostAggregates PlacementGateway::named_aggregates(const CandidatesQuery& query) const {
    std::set<std::string> missing;
    for (const auto& any_of : query.aggregates) missing.insert(any_of.begin(), any_of.end());
    HostAggregates named;
    if (missing.empty()) return named;
    for (const Host* const host : dependencies_.refresher.cache().hosts()) {
        for (const auto& [uuid, aggregate] : host->member_of.get())
            if (missing.erase(uuid) > 0) named.emplace(uuid, aggregate);
        if (missing.empty()) break;
    }
    return named;
}

/// In the words of the query; why that can't be.
std::optional<std::string> PlacementGateway::narrow(Request& request,
                                                    const CandidatesQuery& query) const {
    const CloudCache& cache = dependencies_.refresher.cache();
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

}  // namespace reaper

#include "reaper/gateway/places.hpp"

#include <algorithm>
#include <set>

#include "reaper/planner/constraint_checker.hpp"

namespace reaper {
namespace {

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

}  // namespace

bool is_down(const Host& host) {
    return !host.up || !host.enabled;
}

Amount usable_places(const CloudCache& cache, const Candidates& candidates) {
    std::set<HostId> down;
    for (const HostId& id : candidates.hosts())
        if (const Host* const host = cache.find(id); host != nullptr && is_down(*host))
            down.insert(id);
    return candidates.places_besides(down);
}

Amount places_for(const GatewayPorts& ports, const Request& wanted, const Candidates& candidates) {
    const CloudCache& cache = ports.cache();
    SchedulerRules rules = ports.scheduler();
    rules.watched.clear();
    const ConstraintChecker checker{wanted, &rules, cache.index(), ports.ledger()};
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

Amount places_of(const GatewayPorts& ports, const Request& wanted, const Candidates& candidates) {
    std::set<HostId> hosts;
    for (const EscrowedRoom& room : ports.escrow.kept_for(wanted.id)) hosts.insert(room.host);
    Amount places = places_for(ports, wanted, candidates);
    for (const auto* const promise : ports.ledger().promises_of(wanted.id))
        if (hosts.contains(promise->host)) places += promise->kept();
    return places;
}

bool is_enough(const GatewayPorts& ports, const Candidates& candidates, const Request& wanted) {
    const Amount places = places_for(ports, wanted, candidates);
    if (in_company(wanted.placement) && places < few_places) return false;
    return places >= wanted.slots;
}

}  // namespace reaper

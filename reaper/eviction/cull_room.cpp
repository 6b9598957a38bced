#include "reaper/eviction/cull_room.hpp"

#include <algorithm>
#include <utility>

#include "reaper/model/text.hpp"

namespace reaper {

Task<bool> CullRoom::hold(std::vector<HostId> hosts) {
    auto classes = settings_.policy->held_classes();
    // A requester of one slot would be kept off, too.
    std::erase_if(classes,
                  [&](const ResourceClass& held) { return request_.resources.get(held) > 0; });
    // Room in escrow is held against all others, and could not be where the class is reserved.
    // Of a correction nothing is to be kept.
    if (request_.correction || classes.empty() || keeps_room()) co_return false;
    std::vector<InventoryReserver::Place> places;
    for (const auto& id : hosts) {
        const Host* const host = refresher_.cache().find(id);
        if (host == nullptr) continue;
        for (const auto& provider : host->providers)
            for (const auto& held : classes)
                if (provider.inventories.contains(held))
                    places.push_back({id, host->name, provider.id, held});
    }
    if (places.empty()) co_return false;
    RequestId request = request_.id;
    co_await reserver_.take(std::move(request), std::move(places));
    co_return true;
}

bool CullRoom::came_free_on(const std::set<HostId>& hosts) const {
    const auto& changed = escrow_.changed();
    return std::any_of(hosts.begin(), hosts.end(),
                       [&](const HostId& host) { return changed.contains(host); });
}

bool CullRoom::keeps_room() const {
    return request_.source == RequestSource::gateway && settings_.gateway.escrow &&
           !settings_.dry_run && escrow_.allowed();
}

/// What of the plan's slots on a host is free already, if its root provider has all of it; where
/// that can't be determined, nothing.
Resources CullRoom::free_part(const HostPlan& plan) const {
    const Host* const host = refresher_.cache().find(plan.host);
    if (host == nullptr || host->providers.empty() || !request_.groups.empty()) return {};
    // How much of what is free is another's can't be determined while some of it is on its way.
    if (others_free_room_on(plan.host) &&
        !rooms_.ledger().promised_to_others(plan.host, request_.id).empty())
        return {};
    const Resources& slot = plan.slot.empty() ? request_.resources : plan.slot;
    Resources wanted = slot * plan.slots;
    for (const Victim& victim : plan.victims) wanted -= victim.resources;
    // What others delete was waited for, and is free by now; what they left unfinished is not.
    const bool unfinished =
        std::any_of(plan.pending_releases.begin(), plan.pending_releases.end(),
                    [](const PendingRelease& other) { return other.unfinished; });
    if (unfinished) return {};
    wanted -= escrow_.of_victims_on(plan.host, request_.id);
    Resources part;
    for (const auto& [name, amount] : wanted) {
        const auto inventory = host->root().inventories.find(name);
        if (inventory == host->root().inventories.end()) return {};
        if (amount <= 0) continue;
        if (!inventory->second.allows(amount)) return {};
        part.set(name, amount);
    }
    return part;
}

/// What other requests leave of their victims' room may be part of the plan's, and is on its way.
bool CullRoom::others_free_room_on(const HostId& host) const {
    const Ledger& ledger = rooms_.ledger();
    const auto evicting = ledger.evicting_on(host);
    return !escrow_.promised_for_others_on(host, request_.id).empty() ||
           std::any_of(evicting.begin(), evicting.end(), [&](const ServerId& server) {
               const Ledger::Eviction* const eviction = ledger.eviction(server);
               return eviction->request != request_.id && !eviction->ended;
           });
}

Task<std::optional<std::string>> CullRoom::take_free(std::vector<HostPlan> hosts) {
    if (!keeps_room()) co_return std::nullopt;
    for (const HostPlan& plan : hosts) {
        escrow_.take_over(plan.host, request_.id);
        Resources amounts = free_part(plan);
        RequestId request = request_.id;
        HostId host = plan.host;
        const bool taken =
            co_await escrow_.take_free(std::move(request), std::move(host), std::move(amounts));
        // Then it can't be determined whether all of it is free by now.
        if (!taken && !others_free_room_on(plan.host))
            co_return "room on " + printable(plan.host_name) + " was taken meanwhile";
    }
    co_return std::nullopt;
}

/// A requester in the gateway receives it.
Task<bool> CullRoom::put_in_escrow(ServerId victim, HostId host, Allocations held) {
    if (!keeps_room()) co_return true;
    RequestId request = request_.id;
    co_return co_await escrow_.keep(std::move(request), std::move(host), std::move(victim),
                                    std::move(held));
}

}  // namespace reaper

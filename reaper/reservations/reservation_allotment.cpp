#include "reaper/reservations/reservation_allotment.hpp"

#include <algorithm>
#include <vector>

#include "reaper/rooms/room.hpp"

namespace reaper {
namespace {

/// The most that one consumer may hold of it, up to `amount`.
Amount allowed(const Inventory& inventory, Amount amount) {
    const Amount step = std::max<Amount>(inventory.step_size, 1);
    const Amount most = std::min(amount, inventory.max_unit) / step * step;
    return most < inventory.min_unit || most <= 0 ? 0 : most;
}

/// What is free of each class on each provider, as the reservations change.
class FreeRoom {
public:
    explicit FreeRoom(const Host& host) : host_(host) {
        for (const Provider& provider : host.providers)
            for (const auto& [name, inventory] : provider.inventories)
                free_[provider.id].set(
                    name, provider.capacity(name, inventory) - provider.used.get(name));
    }

    /// Holds less on its providers, the last one first.
    void shrink(Allocations& held, const ResourceClass& name, Amount by) {
        for (auto provider = host_.providers.rbegin(); by > 0 && provider != host_.providers.rend();
             ++provider) {
            const Amount has = amount_on(held, provider->id, name);
            const auto inventory = provider->inventories.find(name);
            const Amount rest = std::max<Amount>(has - by, 0);
            const Amount keeps =
                inventory == provider->inventories.end() ? 0 : allowed(inventory->second, rest);
            by -= has - keeps;
            change(held, provider->id, name, keeps);
        }
    }

    /// Holds more, where most is free first.
    void grow(Allocations& held, const ResourceClass& name, Amount by) {
        std::vector<const Provider*> providers;
        for (const Provider& each : host_.providers)
            if (each.inventories.contains(name)) providers.push_back(&each);
        std::ranges::stable_sort(providers, [&](const auto* a, const auto* b) {
            return free_[a->id].get(name) > free_[b->id].get(name);
        });
        for (const Provider* const provider : providers) {
            const Amount has = amount_on(held, provider->id, name);
            const Amount room = std::min(by, free_[provider->id].get(name));
            if (room <= 0) continue;
            const Amount will = allowed(provider->inventories.at(name), has + room);
            if (will <= has) continue;
            by -= will - has;
            change(held, provider->id, name, will);
        }
    }

private:
    static Amount amount_on(const Allocations& held, const ProviderId& provider,
                            const ResourceClass& name) {
        const auto at = held.find(provider);
        return at == held.end() ? 0 : at->second.get(name);
    }
    void change(Allocations& held, const ProviderId& provider, const ResourceClass& name,
                Amount to) {
        const Amount had = amount_on(held, provider, name);
        if (had == to) return;
        free_[provider].add(name, had - to);
        held[provider].set(name, to);
        if (held[provider].empty()) held.erase(provider);
    }

    const Host& host_;
    std::map<ProviderId, Resources> free_;
};

/// Where the inventory is gone, nothing can be held.
void leave_lost_inventories(const Host& host, Allocations& allocations) {
    for (auto& [provider, amounts] : allocations) {
        const auto at = std::ranges::find_if(
            host.providers, [&id = provider](const Provider& each) { return each.id == id; });
        const Resources held = amounts;
        for (const auto& each : held)
            if (at == host.providers.end() || !at->inventories.contains(each.first))
                amounts.set(each.first, 0);
    }
    std::erase_if(allocations, [](const auto& each) { return each.second.empty(); });
}

/// Its room is for a request of no role, also between two plans of it.
bool goes_for_a_stranger(const Server& server, const Ledger& ledger) {
    const Ledger::Eviction* const eviction = ledger.eviction(server.id);
    return eviction != nullptr && !eviction->ended &&
           ledger.reserved().role_of(eviction->request).empty();
}

}  // namespace

bool is_leaving(const Server& server, const Ledger& ledger) {
    return comes_free(server, ledger) || ledger.evicting(server.id);
}

HostUse use_of(const Host& host, const ReservedAllocations& held, const RoleOfProject& role_of,
               const Ledger& ledger) {
    HostUse use;
    for (const Provider& provider : host.providers)
        for (const auto& [name, inventory] : provider.inventories)
            use.free.add(name, provider.capacity(name, inventory) - provider.used.get(name));
    use.beyond = above_none(Resources{} - use.free);
    use.free -= ledger.promised_to_requests(host.id);
    use.coming = ledger.promised_to_roles(host.id);
    for (const Server& server : host.servers) {
        const Resources holds = held_on(server, host);
        if (is_leaving(server, ledger))
            use.leaving += goes_for_a_stranger(server, ledger) ? Resources{} : holds;
        else if (server.revocable())
            use.revocable += holds;
        else if (const auto role = role_of(server.project))
            use.by_role[*role] += holds;
    }
    for (const auto& [id, allocations] : held) use.held[id] = sum_of(allocations);
    return use;
}

ReservedAllocations allot(const Host& host, const ReservedAllocations& held,
                          const std::map<ReservationId, Resources>& next) {
    FreeRoom room{host};
    ReservedAllocations wanted = held;
    for (auto& each : wanted) leave_lost_inventories(host, each.second);
    for (const auto& [id, amounts] : next) wanted.try_emplace(id);
    const auto wants = [&](const ReservationId& id) {
        const auto at = next.find(id);
        return at == next.end() ? Resources{} : at->second;
    };
    // First what is released, which others may take.
    for (auto& [id, allocations] : wanted)
        for (const auto& [name, has] : sum_of(allocations))
            if (const Amount less = has - wants(id).get(name); less > 0)
                room.shrink(allocations, name, less);
    for (auto& [id, allocations] : wanted)
        for (const auto& [name, amount] : wants(id))
            if (const Amount more = amount - sum_of(allocations).get(name); more > 0)
                room.grow(allocations, name, more);
    return wanted;
}

}  // namespace reaper

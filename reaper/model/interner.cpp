#include "reaper/model/interner.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace reaper {
namespace {

template <class Container>
void share_in(std::map<Container, Shared<Container>>& all, Shared<Container>& mine) {
    if (mine.empty()) return;
    mine = all.try_emplace(mine.get(), mine).first->second;
}

}  // namespace

SharedText Interner::text(const SharedText& text) {
    return text.empty() ? text : *texts_.insert(text).first;
}

Resources Interner::resources(const Resources& resources) {
    Resources shared;
    shared.reserve(resources.size());
    for (const auto& [name, amount] : resources) shared.set(id(name), amount);
    return shared;
}

Allocations Interner::allocations(const Allocations& allocations) {
    Allocations shared;
    for (const auto& [provider, amounts] : allocations)
        shared.emplace_hint(shared.end(), id(provider), resources(amounts));
    return shared;
}

void Interner::share(Server& server) {
    share_all_but_allocations(server);
    server.allocations = allocations(server.allocations);
}

void Interner::share_all_but_allocations(Server& server) {
    server.project = id(server.project);
    server.host = text(server.host);
    server.status = text(server.status);
    server.task_state = text(server.task_state);
    server.flavor_name = text(server.flavor_name);
    if (server.revocable_because) server.revocable_because = text(*server.revocable_because);
    server.revocable_by = text(server.revocable_by);
    share_in(maps_, server.flavor_extra_specs);
    share_in(maps_, server.metadata);
    server.name.shrink_to_fit();
}

void Interner::share(Shared<std::set<Trait>>& traits) {
    share_in(traits_, traits);
}

void Interner::share(Host& host) {
    for (auto& provider : host.providers) {
        provider.id = id(provider.id);
        provider.parent = id(provider.parent);
        share_in(traits_, provider.traits);
        provider.used = resources(provider.used);
        std::map<ResourceClass, Inventory> inventories;
        for (const auto& [name, inventory] : provider.inventories)
            inventories.emplace_hint(inventories.end(), id(name), inventory);
        provider.inventories = std::move(inventories);
        for (auto& [consumer, held] : provider.other_consumers) held = resources(held);
    }
    host.id = host.providers.empty() ? host.id : host.providers.front().id;
    std::vector<Shared<Allocations>> held;
    for (auto& server : host.servers) {
        share_all_but_allocations(server);
        const auto equal = std::ranges::find(held, server.allocations);
        if (equal == held.end()) {
            server.allocations = allocations(server.allocations);
            held.push_back(server.allocations);
        } else {
            server.allocations = *equal;
        }
    }
}

void Interner::prune() {
    std::erase_if(texts_, [](const SharedText& text) { return text.unshared(); });
    // Flavors and traits are few, metadata need not be.
    std::erase_if(maps_, [](const auto& entry) { return entry.second.unshared(); });
    std::erase_if(traits_, [](const auto& entry) { return entry.second.unshared(); });
}

}  // namespace reaper

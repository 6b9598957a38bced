#include "reaper/cloud/cache/estimate.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "reaper/request_spec/resource_request.hpp"

namespace reaper {

const ServerId unread_consumers{"(not read yet)"};

namespace {

/// Its capacity is 0 while it is in use, and a summary does not say why.
constexpr const char* bare_metal = "ironic";

/// A provider's tree, as the estimate needs it: which provider offers which class.
std::vector<Provider> tree_of(const std::vector<const ProviderSummary*>& summaries) {
    std::vector<Provider> tree;
    for (const auto* summary : summaries) {
        Provider provider;
        provider.id = summary->id;
        for (const auto& [name, capacity] : summary->capacity)
            provider.inventories[name] = {.total = capacity, .capacity_only = true};
        // Where all of a class is reserved, as held room is, its servers hold theirs anyway.
        for (const auto& [name, amount] : summary->used)
            provider.inventories.try_emplace(name, Inventory{.capacity_only = true});
        tree.push_back(std::move(provider));
    }
    return tree;
}

ProviderState state_of(const ProviderSummary& summary, Provider&& provider) {
    ProviderState state;
    state.inventories = std::move(provider.inventories);
    state.traits = summary.traits;
    return state;
}

using Trees = std::map<HostId, std::vector<const ProviderSummary*>>;

/// By root, the root first; a provider that came in several answers once.
Trees trees_of(const std::vector<ProviderSummary>& summaries) {
    Trees trees;
    for (const auto& summary : summaries) trees[summary.root].push_back(&summary);
    for (auto& [root, tree] : trees) {
        std::ranges::stable_sort(tree, [&root = root](const auto* a, const auto* b) {
            return std::pair(a->id != root, a->id) < std::pair(b->id != root, b->id);
        });
        tree.erase(std::unique(tree.begin(), tree.end(),
                               [](const auto* a, const auto* b) { return a->id == b->id; }),
                   tree.end());
    }
    return trees;
}

/// What each one provider gives: the flavor's groups, and each class that is in none.
std::vector<Resources> parts_of(const ServerRecord& record) {
    std::vector<Resources> parts;
    const ImageProperties no_image;
    const auto taken =
        resource_request(ServerSpec{record.flavor, no_image, record.boot_from_volume});
    if (!taken) return parts;
    Resources rest = taken->shape.resources;
    for (const auto& group : taken->groups) {
        parts.push_back(group.resources);
        rest -= group.resources;
    }
    for (const auto& [name, amount] : rest)
        if (amount > 0) {
            Resources part;
            part.set(name, amount);
            parts.push_back(std::move(part));
        }
    return parts;
}

bool offers(const Provider& provider, const Resources& part) {
    return std::ranges::all_of(part, [&](const Resources::Entry& entry) {
        return provider.inventories.contains(entry.first);
    });
}

/// Hosts of which the summaries left a provider out.
void add_half_covered(const CloudRecords& records, std::vector<HostId>& unread) {
    const std::set<HostId> known(unread.begin(), unread.end());
    std::set<HostId> half;
    for (const auto& provider : records.providers) {
        const bool of_host =
            records.states.contains(provider.root) && !known.contains(provider.root);
        if (of_host && !records.states.contains(provider.id)) half.insert(provider.root);
    }
    unread.insert(unread.end(), half.begin(), half.end());
}

}  // namespace

Allocations estimate_allocations(const ServerRecord& record, const std::vector<Provider>& tree,
                                 const Unexplained* unexplained) {
    Allocations held;
    for (const auto& part : parts_of(record)) {
        const Provider* giver = nullptr;
        for (const auto& provider : tree) {
            if (!offers(provider, part)) continue;
            if (giver == nullptr) giver = &provider;
            if (unexplained == nullptr) break;
            const auto used = unexplained->find(provider.id);
            const auto own = held.find(provider.id);
            const Resources more = own == held.end() ? part : part + own->second;
            if (used == unexplained->end() || !more.fits_in(used->second)) continue;
            giver = &provider;
            break;
        }
        if (giver != nullptr) held[giver->id] += part;
    }
    return held;
}

std::vector<HostId> estimate_states(CloudRecords& records,
                                    const std::vector<ProviderSummary>& summaries) {
    std::map<std::string, int> hypervisors_of;
    for (const auto& hypervisor : records.hypervisors) ++hypervisors_of[hypervisor.service_host];
    std::map<std::string, std::vector<const ServerRecord*>> servers_on;
    for (const auto& record : records.servers)
        if (!record.server.host.empty()) servers_on[record.server.host].push_back(&record);

    const Trees trees = trees_of(summaries);
    std::vector<HostId> unread;
    for (const auto& hypervisor : records.hypervisors) {
        const auto at = trees.find(hypervisor.id);
        const bool covered = at != trees.end() && at->second.front()->id == hypervisor.id &&
                             hypervisors_of[hypervisor.service_host] == 1 &&
                             hypervisor.type != bare_metal;
        if (!covered) {
            unread.push_back(hypervisor.id);
            continue;
        }
        auto tree = tree_of(at->second);
        Unexplained rest;
        std::map<ProviderId, std::map<ServerId, Resources>> held;
        for (const auto* summary : at->second) rest[summary->id] = summary->used;
        for (const auto* record : servers_on[hypervisor.service_host])
            for (auto& [provider, amount] : estimate_allocations(*record, tree, &rest)) {
                rest[provider] -= amount;
                held[provider][record->server.id] = amount;
            }
        for (std::size_t i = 0; i < tree.size(); ++i) {
            const ProviderId id = tree[i].id;
            ProviderState state = state_of(*at->second[i], std::move(tree[i]));
            state.allocations = std::move(held[id]);
            if (!rest[id].empty()) state.allocations[unread_consumers] = rest[id];
            records.states.insert_or_assign(id, std::move(state));
        }
    }
    add_half_covered(records, unread);
    return unread;
}

}  // namespace reaper

#include "reaper/gateway/promised_room.hpp"

#include <algorithm>
#include <utility>

#include "reaper/model/text.hpp"

namespace reaper {
namespace {

/// Of one answer: who holds what of promised room.
constexpr int most_looks = 24;

/// Of `amounts`, what a host's providers give.
Resources on(const Host* host, const Allocations& amounts) {
    Resources sum;
    for (const auto& held : amounts) {
        const bool here = host == nullptr ||
                          std::any_of(host->providers.begin(), host->providers.end(),
                                      [&](const Provider& each) { return each.id == held.first; });
        if (here) sum += held.second;
    }
    return sum;
}

}  // namespace

Task<std::map<HostId, Resources>> PromisedRoom::withheld(std::set<HostId> hosts, RequestId from) {
    std::map<HostId, Resources> kept;
    int looks = 0;
    for (const HostId& host : hosts) {
        if (!any_to_others(host, from)) continue;
        Resources room = co_await withheld_on(host, from, TimePoint::max(), looks);
        if (!room.empty()) kept.emplace(host, std::move(room));
    }
    co_return kept;
}

/// For each request, what is promised to it beyond what is held for it: by its victims, by those
/// who keep their room, and by its servers that claimed.
Task<Resources> PromisedRoom::withheld_on(HostId host, RequestId from, TimePoint until,
                                          int& looks) {
    std::set<ServerId> holders;
    for (const ServerId& victim : ledger_.evicting_on(host))
        if (!kept_.keeps(victim)) holders.insert(victim);
    for (const auto* const promise : ledger_.promises_on(host))
        if (!ledger_.reserved().is_for(*promise, from) && promise->kept() > 0)
            holders.insert(promise->requesters.begin(), promise->requesters.end());
    std::map<ServerId, Resources> held;
    for (const ServerId& holder : holders) {
        if (++looks > most_looks) break;
        ServerId consumer = holder;
        auto allocations = co_await cloud_.placement.allocations(std::move(consumer));
        if (allocations) held[holder] = on(refresher_.cache().find(host), *allocations);
    }
    co_return missing(host, from, until, held);
}

/// Since when `from` itself is promised room there that none of `holders` has claimed; else: never.
TimePoint PromisedRoom::promised_since(const HostId& host, const RequestId& from,
                                       const std::map<ServerId, Resources>& holders) const {
    TimePoint since = TimePoint::max();
    for (const auto* const promise : ledger_.promises_on(host)) {
        if (promise->request != from) continue;
        const auto& all = promise->requesters;
        const auto claims = std::count_if(all.begin(), all.end(), [&](const ServerId& each) {
            return holders.contains(each) && !ledger_.took_slot(from, each);
        });
        if (promise->kept() > claims) since = std::min(since, promise->since);
    }
    return since;
}

/// What was promised after `until` rests on what that left, some of which may still be on its way.
Resources PromisedRoom::missing(const HostId& host, const RequestId& from, TimePoint until,
                                const std::map<ServerId, Resources>& held) const {
    std::map<RequestId, Resources> promised, there;
    for (const auto* const promise : ledger_.promises_on(host)) {
        if (ledger_.reserved().is_for(*promise, from) || promise->kept() == 0) continue;
        if (promise->reservation.empty() && promise->since > until) continue;
        promised[promise->request] += promise->slot * promise->kept();
        for (const ServerId& requester : promise->requesters)
            if (const auto at = held.find(requester);
                at != held.end() && !ledger_.took_slot(promise->request, requester))
                there[promise->request] += at->second;
    }
    for (const ServerId& victim : ledger_.evicting_on(host))
        if (const auto at = held.find(victim); at != held.end())
            there[ledger_.eviction(victim)->request] += at->second;
    Resources sum;
    for (const auto& [request, amounts] : promised)
        sum += more_than(amounts, there[request] + kept_.kept_on(host, request));
    return sum;
}

std::string PromisedRoom::why_taken(const HostId& host, const RequestId& from,
                                    const ResourceClass& name, Amount free, Amount kept) const {
    const Host* const known = refresher_.cache().find(host);
    std::string why = "of " + std::to_string(free) + " " + name.str() + " on " +
                      printable(known == nullptr ? host.str() : known->name, 64) + ", " +
                      std::to_string(kept) + " are promised to";
    for (const auto* const promise : ledger_.promises_on(host))
        if (!ledger_.reserved().is_for(*promise, from) && promise->kept() > 0)
            why += " " + printable(promise->request.str(), 64);
    return why;
}

Task<std::optional<std::string>> PromisedRoom::claimed(Allocations asked, RequestId from) {
    int looks = 0;
    for (const auto& [provider, resources] : asked) {
        if (!any_to_others(provider, from)) continue;
        ProviderId root = provider;
        auto state = co_await cloud_.placement.room(std::move(root));
        if (!state) continue;
        Resources free;
        for (const auto& [name, inventory] : state->inventories)
            free.add(name, inventory.capacity());
        for (const auto& [consumer, amounts] : state->allocations) free -= amounts;
        HostId host = provider;
        // Its own, however little there is for others.
        const Resources own = kept_.kept_on(host, from);
        RequestId who = from;
        const TimePoint until = promised_since(provider, from, state->allocations);
        const Resources promised =
            co_await withheld_on(std::move(host), std::move(who), until, looks);
        for (const auto& [name, amount] : promised) {
            const Amount more = resources.get(name) - own.get(name);
            if (more > 0 && more > free.get(name) - amount)
                co_return why_taken(provider, from, name, free.get(name), amount);
        }
    }
    co_return std::nullopt;
}

}  // namespace reaper

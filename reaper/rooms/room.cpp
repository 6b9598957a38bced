#include "reaper/rooms/room.hpp"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "reaper/model/resources.hpp"
#include "reaper/model/text.hpp"
#include "reaper/rooms/host_packing.hpp"

namespace reaper {
namespace {

/// No cloud has more of anything on one provider.
constexpr Amount sane_limit = Amount{1} << 50;

Amount used_on(const Provider& provider, const ResourceClass& resource_class) {
    return sane(provider.used.get(resource_class));
}

/// A consumer that is being deleted, and what it still holds.
struct Leaver {
    ServerId id;
    const Server* server = nullptr;  // none where Nova lists it no more
    const Ledger::Eviction* eviction = nullptr;
    Allocations held;
};

/// What consumers that are being deleted still hold on the providers of a host.
std::vector<Leaver> leavers_of(const Host& host, const Ledger& ledger) {
    std::vector<Leaver> leavers;
    for (const auto& server : host.servers)
        if (comes_free(server, ledger))
            leavers.push_back(
                Leaver{server.id, &server, ledger.eviction(server.id), server.allocations});
    if (ledger.empty()) return leavers;
    for (const auto& server : host.left_behind)
        if (ledger.evicting(server.id) && !ledger.given_up(server.id))
            leavers.push_back(
                Leaver{server.id, &server, ledger.eviction(server.id), server.allocations});
    std::set<ServerId> listed;
    for (const auto& server : host.servers) listed.insert(server.id);
    std::map<ServerId, Leaver> unlisted;
    for (const auto& provider : host.providers)
        for (const auto& [consumer, resources] : provider.other_consumers) {
            const auto* const eviction = ledger.eviction(consumer);
            if (eviction == nullptr || listed.contains(consumer) || ledger.given_up(consumer))
                continue;
            auto& leaver = unlisted.try_emplace(consumer, Leaver{consumer, nullptr, eviction, {}})
                               .first->second;
            leaver.held[provider.id] += resources;
        }
    for (auto& [id, leaver] : unlisted) leavers.push_back(std::move(leaver));
    return leavers;
}

Allocations holdings_of(const std::vector<Leaver>& leavers) {
    Allocations held;
    for (const auto& leaver : leavers)
        for (const auto& [provider, resources] : leaver.held) held[provider] += resources;
    return held;
}

std::vector<Pool> pools_of(const Host& host, const Shape& shape, const Allocations& evicting) {
    std::vector<Pool> pools;
    for (std::size_t need = 0; need < shape.size(); ++need) {
        const auto& [resource_class, amount] = shape[need];
        for (const auto& provider : host.providers) {
            const auto at = provider.inventories.find(resource_class);
            if (at == provider.inventories.end()) continue;
            if (shape.parts() != nullptr ? !may_give(host, provider, shape, need)
                                         : !units_allow(at->second, amount))
                continue;
            const Amount capacity = sane(provider.capacity(resource_class, at->second));
            const auto going = evicting.find(provider.id);
            const Amount back =
                going == evicting.end() ? 0 : sane(going->second.get(resource_class));
            const Amount room = saturating_add(
                saturating_subtract(capacity, used_on(provider, resource_class)), back);
            pools.push_back(Pool{provider.id, need, room, capacity});
        }
    }
    std::sort(pools.begin(), pools.end(), [](const Pool& a, const Pool& b) {
        return std::pair(a.need, a.provider) < std::pair(b.need, b.provider);
    });
    return pools;
}

Claim& claim_of(HostRoom& room, const RequestId& request) {
    for (auto& claim : room.claims)
        if (claim.request == request) return claim;
    room.claims.push_back(Claim{request, ByPool(room.pools.size(), 0)});
    return room.claims.back();
}

/// How many of our parts of `least` and more one promised slot spoils at worst, wherever each part
/// of its own lands.
Amount parts_spoiled(const Ledger::Promise& promise, const ResourceClass& resource_class,
                     Amount least) {
    Amount spoiled = 0;
    Amount rest = promise.slot.get(resource_class);
    for (const auto& group : promise.groups) {
        const Amount part = group.get(resource_class);
        if (part <= 0) continue;
        spoiled = saturating_add(spoiled, divide_up(part, least));
        rest = saturating_subtract(rest, part);
    }
    return rest > 0 ? saturating_add(spoiled, divide_up(rest, least)) : spoiled;
}

/// Takes promised room off: exactly where one provider has the class; where several have it, the
/// promise may be taken from any of them, and costs at worst its own slots, each rounded up.
void take_off_promises(HostRoom& room, const Host& host, const Shape& shape, const Ledger& ledger,
                       const RequestId& request) {
    room.promised_slots.assign(shape.size(), 0);
    room.promised.assign(shape.size(), 0);
    std::vector<std::size_t> pools_of_need(shape.size(), 0);
    for (const auto& pool : room.pools) ++pools_of_need[pool.need];
    for (const auto* const held : ledger.promises_on(host.id)) {
        const auto& promise = *held;
        if (ledger.reserved().is_for(promise, request) || promise.open() <= 0) continue;
        for (std::size_t need = 0; need < shape.size(); ++need) {
            const Amount each = promise.slot.get(shape[need].resource_class);
            if (each <= 0) continue;
            const Amount all = saturating_multiply(each, promise.open());
            if (pools_of_need[need] == 1) {
                Claim& claim = claim_of(room, promise.request);
                for (std::size_t i = 0; i < room.pools.size(); ++i) {
                    if (room.pools[i].need != need) continue;
                    room.pools[i].room = saturating_subtract(room.pools[i].room, all);
                    claim.amounts[i] = saturating_add(claim.amounts[i], all);
                }
            } else {
                const Amount cost = saturating_multiply(
                    parts_spoiled(promise, shape[need].resource_class, shape.least_part(need)),
                    promise.open());
                room.promised_slots[need] = saturating_add(room.promised_slots[need], cost);
                room.promised[need] = saturating_add(room.promised[need], all);
            }
        }
    }
}

std::string why_going(const Ledger::Eviction* eviction, bool unfinished, const RequestId& request) {
    if (eviction == nullptr && unfinished)
        return "a reaper deleted it softly and did not finish; it is forced";
    if (eviction == nullptr) return "its deletion has begun";
    if (eviction->request == request) return "it is evicted for this request already";
    return "it is evicted for " + printable(eviction->request.str());
}

Going::By by_whom(const Ledger::Eviction* eviction, const RequestId& request) {
    if (eviction == nullptr) return Going::By::stranger;
    return eviction->request == request ? Going::By::same_request : Going::By::other_request;
}

void name_leavers(HostRoom& room, const Shape& shape, const std::vector<Leaver>& leavers,
                  const RequestId& request) {
    for (const auto& leaver : leavers) {
        ByPool gains = gains_of(room, shape, leaver.held);
        if (std::all_of(gains.begin(), gains.end(), [](Amount gain) { return gain == 0; }))
            continue;
        Going going;
        going.server = leaver.id;
        if (leaver.server != nullptr) going.name = leaver.server->name;
        going.unfinished = leaver.eviction == nullptr && leaver.server != nullptr &&
                           leaver.server->unfinished_deletion;
        if (going.unfinished) {
            going.project = leaver.server->project;
            going.host = leaver.server->host;
        }
        going.reason = why_going(leaver.eviction, going.unfinished, request);
        going.by = by_whom(leaver.eviction, request);
        if (leaver.eviction != nullptr && leaver.eviction->counted)
            going.covers = leaver.eviction->request;
        going.gains = std::move(gains);
        room.going.push_back(std::move(going));
    }
    std::sort(room.going.begin(), room.going.end(),
              [](const Going& a, const Going& b) { return a.server < b.server; });
}

}  // namespace

Amount sane(Amount amount) {
    return std::clamp(amount, -sane_limit, sane_limit);
}

bool units_allow(const Inventory& inventory, Amount amount) {
    return amount >= inventory.min_unit && amount <= inventory.max_unit &&
           (inventory.step_size <= 1 || amount % inventory.step_size == 0);
}

HostRoom room_on(const Host& host, const Shape& shape, const Ledger& ledger,
                 const RequestId& request) {
    HostRoom room;
    const auto leavers = leavers_of(host, ledger);
    room.pools = pools_of(host, shape, holdings_of(leavers));
    take_off_promises(room, host, shape, ledger, request);
    if (shape.parts() != nullptr) room.packing = packing_of(host, shape, room);
    name_leavers(room, shape, leavers, request);
    return room;
}

namespace {

/// No more slots fit than the pools have room for together.
Amount most_by_sums(const HostRoom& host, const Shape& shape, const ByPool& room) {
    std::vector<Amount> sums(shape.size(), 0);
    for (std::size_t pool = 0; pool < room.size(); ++pool) {
        Amount& sum = sums[host.pools[pool].need];
        sum = saturating_add(sum, std::max<Amount>(room[pool], 0));
    }
    Amount most = max_amount;
    for (std::size_t need = 0; need < sums.size(); ++need)
        most = std::min(most, sums[need] / shape[need].amount);
    return most;
}

}  // namespace

Amount HostRoom::slots(const Shape& shape, const ByPool& room, Amount most,
                       PackingWork* work) const {
    if (packing != nullptr)
        return packing->slots(room, std::min(most, most_by_sums(*this, shape, room)), work);
    std::vector<Amount> by_need(shape.size(), 0);
    for (std::size_t i = 0; i < pools.size(); ++i)
        if (room[i] > 0)
            by_need[pools[i].need] =
                saturating_add(by_need[pools[i].need], room[i] / shape[pools[i].need].amount);
    Amount scarcest = shape.empty() ? 0 : max_amount;
    for (std::size_t need = 0; need < shape.size(); ++need)
        scarcest = std::min(scarcest, saturating_subtract(by_need[need], promised_slots[need]));
    return std::max<Amount>(scarcest, 0);
}

bool HostRoom::fits(const Shape& shape, const ByPool& room, Amount wanted,
                    PackingWork* work) const {
    if (packing == nullptr) return slots(shape, room) >= wanted;
    return wanted <= most_by_sums(*this, shape, room) && packing->fits(room, wanted, work);
}

bool HostRoom::counts_without_deficit(std::size_t pool) const {
    // Pools are in the order of needs.
    return (pool > 0 && pools[pool - 1].need == pools[pool].need) ||
           (pool + 1 < pools.size() && pools[pool + 1].need == pools[pool].need);
}

std::vector<Amount> HostRoom::totals(const Shape& shape, const ByPool& room) const {
    std::vector<Amount> sums(shape.size(), 0);
    for (std::size_t i = 0; i < pools.size(); ++i)
        sums[pools[i].need] = saturating_add(
            sums[pools[i].need], room[i] < 0 && counts_without_deficit(i) ? Amount{0} : room[i]);
    for (std::size_t need = 0; need < shape.size(); ++need)
        sums[need] = saturating_subtract(sums[need], promised[need]);
    return sums;
}

std::vector<Amount> HostRoom::missing(const Shape& shape, const ByPool& room, Amount slots) const {
    std::vector<Amount> short_of(shape.size(), 0);
    for (std::size_t need = 0; need < shape.size(); ++need) {
        const Amount amount = shape[need].amount;
        Amount have = 0;
        Amount best_rest = 0;
        std::size_t count = 0;
        Amount only = 0;
        for (std::size_t i = 0; i < pools.size(); ++i) {
            if (pools[i].need != need) continue;
            ++count;
            only = room[i];
            have = saturating_add(have, std::max<Amount>(room[i], 0) / amount);
            best_rest = std::max(best_rest, std::max<Amount>(room[i], 0) % amount);
        }
        if (packing != nullptr && count != 1) {
            // In parts, over all providers.
            Amount sum = 0;
            for (std::size_t i = 0; i < pools.size(); ++i)
                if (pools[i].need == need) sum = saturating_add(sum, std::max<Amount>(room[i], 0));
            short_of[need] = std::max<Amount>(
                saturating_subtract(
                    saturating_add(saturating_multiply(slots, amount), promised[need]), sum),
                0);
            continue;
        }
        const Amount lacking =
            saturating_subtract(saturating_add(slots, promised_slots[need]), have);
        if (lacking <= 0) continue;
        short_of[need] = count == 1
                             ? saturating_subtract(saturating_multiply(slots, amount), only)
                             : saturating_subtract(saturating_multiply(lacking, amount), best_rest);
    }
    return short_of;
}

std::string HostRoom::shortage(const Shape& shape, const ByPool& room, Amount wanted) const {
    const Resources lacking = named(shape, missing(shape, room, wanted));
    if (!lacking.empty() || packing == nullptr) return amounts_text(lacking);
    std::string parts;
    for (const auto& name : packing->misfits(room, wanted))
        parts += (parts.empty() ? "" : ", ") + name;
    return "a provider for " + parts;
}

ByPool HostRoom::room_now() const {
    ByPool now(pools.size());
    std::transform(pools.begin(), pools.end(), now.begin(), [](const Pool& p) { return p.room; });
    return now;
}

ByPool HostRoom::capacities() const {
    ByPool full(pools.size());
    std::transform(pools.begin(), pools.end(), full.begin(),
                   [](const Pool& p) { return p.capacity; });
    return full;
}

bool comes_free(const Server& server) {
    if (server.unfinished_deletion) return server.revocable();
    return server.being_deleted();
}

bool comes_free(const Server& server, const Ledger& ledger) {
    if (ledger.empty()) return comes_free(server);
    return (comes_free(server) || ledger.evicting(server.id)) && !ledger.given_up(server.id);
}

ByPool gains_of(const HostRoom& room, const Shape& shape, const Allocations& allocations) {
    ByPool gains(room.pools.size(), 0);
    for (std::size_t i = 0; i < gains.size(); ++i) {
        const auto at = allocations.find(room.pools[i].provider);
        if (at == allocations.end()) continue;
        gains[i] =
            std::max<Amount>(sane(at->second.get(shape[room.pools[i].need].resource_class)), 0);
    }
    return gains;
}

Resources named(const Shape& shape, const std::vector<Amount>& amounts) {
    Resources resources;
    for (std::size_t need = 0; need < shape.size(); ++need)
        resources.set(shape[need].resource_class, amounts[need]);
    return resources;
}

int to_int(Amount amount) {
    return static_cast<int>(std::clamp<Amount>(amount, 0, std::numeric_limits<int>::max()));
}

}  // namespace reaper

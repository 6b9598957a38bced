#include "reaper/reservations/idle_room.hpp"

#include <algorithm>
#include <utility>

#include "reaper/reservations/reservation_record.hpp"

namespace reaper {
namespace {

/// Hosts of a page, besides one for each slot.
constexpr std::size_t page_size = 64;

Amount sum_of_all(const Resources& resources) {
    Amount sum = 0;
    for (const auto& each : resources) sum += each.second;
    return sum;
}

/// The host as if these consumers held only `then` of what they held `before`.
Host with_less(Host host, const ReservedAllocations& before, const ReservedAllocations& then) {
    for (Provider& provider : host.providers)
        for (const auto& [id, held] : before) {
            const auto here = held.find(provider.id);
            if (here == held.end()) continue;
            Resources keeps;
            if (const auto after = then.find(id); after != then.end())
                if (const auto still = after->second.find(provider.id);
                    still != after->second.end())
                    keeps = still->second;
            const auto shown = provider.other_consumers.find(consumer_id_of(id));
            // Of a host that is not read exactly, the consumers are not known.
            if (shown == provider.other_consumers.end() && !host.estimated) continue;
            provider.used -= here->second - keeps;
            if (shown == provider.other_consumers.end()) continue;
            shown->second = keeps;
            if (keeps.empty()) provider.other_consumers.erase(shown);
        }
    return host;
}

/// Room of a host, by sums over its providers: never too little.
class MostRoom {
public:
    MostRoom(const RoomWish& wish, const Ledger& ledger) : wish_(wish), ledger_(ledger) {}

    /// Could a slot fit, with this much released, and with this many victims?
    bool fits(const Host& host, const Resources& given, std::size_t victims) const {
        Resources room = given;
        for (const Provider& provider : host.providers)
            for (const auto& [name, inventory] : provider.inventories)
                room.add(name,
                         std::max<Amount>(
                             provider.capacity(name, inventory) - provider.used.get(name), 0));
        if (suffices(room)) return true;
        if (wish_.borrowed) return false;
        std::map<ResourceClass, std::vector<Amount>> gains;
        for (const Server& server : host.servers) {
            const bool leaves = is_leaving(server, ledger_);
            if (!leaves && (!server.revocable() || victims == 0)) continue;
            const Resources holds = held_on(server, host);
            if (leaves) {
                room += holds;
                continue;
            }
            for (const auto& [name, amount] : holds) gains[name].push_back(amount);
        }
        for (auto& [name, amounts] : gains) {
            std::sort(amounts.rbegin(), amounts.rend());
            if (amounts.size() > victims) amounts.resize(victims);
            for (const Amount amount : amounts) room.add(name, amount);
        }
        return suffices(room);
    }

private:
    bool suffices(const Resources& room) const {
        const Request& request = wish_.request;
        // Revocable room is of other classes.
        if (!wish_.borrowed && request.phases.admits(ResType::revocable)) return true;
        return request.resources.fits_in(room) ||
               (request.fallback && request.fallback->resources.fits_in(room));
    }

    const RoomWish& wish_;
    const Ledger& ledger_;
};

class Finder {
public:
    Finder(const RoomWish& wish, const std::vector<IdleRoom>& rooms, const IdleRoomSearch& search)
        : wish_(wish), rooms_(rooms), search_(search), most_(wish, search.ledger) {}

    FoundRoom run() {
        if (wish_.borrowed)
            if (auto one = on_one_host(); !one.empty()) return one;
        if (wish_.borrowed && wish_.request.slots == 1) return {};
        auto found = without_deletion();
        if (found.empty() && wish_.most_victims > 0) found = with_few_deletions();
        return found;
    }

private:
    /// On the first host that gives all of it. A page where they fit nowhere has none.
    FoundRoom on_one_host() {
        for (std::size_t next = 0; next < rooms_.size();) {
            const auto hosts = page(next, whole_page(), 0);
            if (hosts.empty()) break;
            if (!std::holds_alternative<NothingToDo>(search_.decide(wish_.request, hosts)))
                continue;
            for (const Host& host : hosts) {
                const Decision decision = search_.decide(wish_.request, {host});
                if (const auto* const there = std::get_if<NothingToDo>(&decision))
                    return {there->hosts, {host}};
            }
        }
        return {};
    }

    /// As many as possible; each page is looked at beside the hosts that serve some of them.
    FoundRoom without_deletion() {
        FoundRoom found;
        int fit = 0;
        for (std::size_t next = 0; next < rooms_.size() && fit < wish_.request.slots;) {
            auto hosts = found.hosts;
            for (Host& host : page(next, whole_page(), 0)) hosts.push_back(std::move(host));
            if (hosts.size() == found.hosts.size()) break;
            if (auto plans = more_than(fit, hosts)) found = with_hosts(std::move(*plans), hosts);
        }
        return found;
    }

    /// None: so many as `fit` fit, and no more. Else `fit` is what does.
    std::optional<std::vector<HostPlan>> more_than(int& fit, const std::vector<Host>& hosts) {
        std::optional<std::vector<HostPlan>> plans;
        const auto fits = [&](int slots) {
            Request asked = wish_.request;
            asked.slots = slots;
            const Decision decision = search_.decide(asked, hosts);
            const auto* const there = std::get_if<NothingToDo>(&decision);
            if (there == nullptr) return false;
            plans = there->hosts;
            fit = slots;
            return true;
        };
        int too_many = wish_.request.slots + 1;
        if (fits(wish_.request.slots)) return plans;
        too_many = wish_.request.slots;
        if (fit + 1 >= too_many || !fits(fit + 1)) return plans;
        while (fit + 1 < too_many)
            if (const int middle = (fit + too_many) / 2; !fits(middle)) too_many = middle;
        return plans;
    }

    FoundRoom with_few_deletions() {
        for (std::size_t next = 0; next < rooms_.size();) {
            const auto hosts = page(next, whole_page(), wish_.most_victims);
            if (hosts.empty()) break;
            const Decision decision = search_.decide(wish_.request, hosts);
            const auto* const plan = std::get_if<Plan>(&decision);
            const bool enough = plan != nullptr && plan->slots_freed >= plan->slots_requested &&
                                plan->victims().size() <= wish_.most_victims;
            if (enough) return with_hosts(plan->hosts, hosts);
        }
        return {};
    }

    std::size_t whole_page() const {
        return page_size + static_cast<std::size_t>(std::max(wish_.request.slots, 0));
    }

    /// The next ones where a slot may fit, without what is given there.
    std::vector<Host> page(std::size_t& next, std::size_t most, std::size_t victims) {
        std::vector<Host> hosts;
        for (; next < rooms_.size() && hosts.size() < most; ++next) {
            const IdleRoom& room = rooms_[next];
            if (!most_.fits(*room.host, room.most, victims)) continue;
            const GivenRoom given = search_.given(*room.host);
            Resources sum;
            for (const auto& each : given) sum += each.second;
            if (sum.empty() || !most_.fits(*room.host, sum, victims)) continue;
            hosts.push_back(search_.without(*room.host, given));
        }
        return hosts;
    }

    static FoundRoom with_hosts(std::vector<HostPlan> plans, const std::vector<Host>& hosts) {
        FoundRoom found{std::move(plans), {}};
        for (const Host& host : hosts)
            if (std::ranges::any_of(found.plans,
                                    [&](const HostPlan& plan) { return plan.host == host.id; }))
                found.hosts.push_back(host);
        return found;
    }

    const RoomWish& wish_;
    const std::vector<IdleRoom>& rooms_;
    const IdleRoomSearch& search_;
    MostRoom most_;
};

/// What its victims hold there still, also those that Nova lists no more.
Resources on_its_way_to(const RequestId& request, const Host& host, const Ledger& ledger) {
    const auto brings = [&](const ServerId& server) {
        const Ledger::Eviction* const eviction = ledger.eviction(server);
        return eviction != nullptr && eviction->request == request && eviction->counted &&
               !ledger.given_up(server);
    };
    Resources sum;
    for (const Server& server : host.servers)
        if (brings(server.id)) sum += held_on(server, host);
    for (const Provider& provider : host.providers)
        for (const auto& [consumer, held] : provider.other_consumers)
            if (brings(consumer)) sum += held;
    return sum;
}

}  // namespace

FoundRoom find_idle_room(const RoomWish& wish, std::vector<IdleRoom> rooms,
                         const IdleRoomSearch& search) {
    std::vector<std::pair<Amount, std::size_t>> order;
    order.reserve(rooms.size());
    for (std::size_t i = 0; i < rooms.size(); ++i)
        order.emplace_back(sum_of_all(rooms[i].most) * (wish.borrowed ? 1 : -1), i);
    std::ranges::sort(order);
    std::vector<IdleRoom> sorted;
    sorted.reserve(rooms.size());
    for (const auto& each : order) sorted.push_back(std::move(rooms[each.second]));
    return Finder{wish, sorted, search}.run();
}

Host without_given(const Host& host, const ReservationRecords& records, const GivenRoom& given) {
    ReservedAllocations before;
    std::map<ReservationId, Resources> next;
    for (const auto& [id, amounts] : given) {
        before[id] = held_on_host(records.at(id));
        next[id] = sum_of(before[id]) - amounts;
    }
    return with_less(host, before, allot(host, before, next));
}

Resources lacking_on(const Host& host, const HostPlan& plan, const RoomWish& wish,
                     const Ledger& ledger) {
    const Request& request = wish.request;
    const Resources& slot = plan.slot.empty() ? request.resources : plan.slot;
    Resources lacking = slot * plan.slots;
    for (const Provider& provider : host.providers)
        for (const auto& [name, inventory] : provider.inventories)
            lacking.add(name, provider.used.get(name) - provider.capacity(name, inventory));
    for (const auto* const promise : ledger.promises_on(host.id))
        if (!ledger.reserved().is_for(*promise, request.id)) {
            const Resources promised = promise->slot * promise->open();
            // A borrower waits for no deletion; what others' victims bring is theirs first.
            lacking += wish.borrowed
                           ? above_none(promised - on_its_way_to(promise->request, host, ledger))
                           : promised;
        }
    for (const Server& server : host.servers)
        if (!wish.borrowed && is_leaving(server, ledger)) lacking -= held_on(server, host);
    for (const Victim& victim : plan.victims) lacking -= victim.resources;
    Resources of_slot;
    for (const auto& [name, amount] : slot) of_slot.set(name, lacking.get(name));
    return above_none(of_slot);
}

std::optional<ReservedAllocations> room_to_release(const Host& host,
                                                   const HostReservations& reservations,
                                                   const ReservationRecords& records,
                                                   const GivenRoom& given, Resources lacking) {
    std::vector<std::pair<ReservationId, Resources>> giving(given.begin(), given.end());
    std::ranges::stable_sort(giving, [&](const auto& a, const auto& b) {
        return reservations.at(a.first).identity.role.depth() >
               reservations.at(b.first).identity.role.depth();
    });
    ReservedAllocations before;
    std::map<ReservationId, Resources> next;
    for (const auto& [id, amounts] : giving) {
        before[id] = held_on_host(records.at(id));
        const Resources part = common(amounts, lacking);
        lacking -= part;
        next[id] = sum_of(before[id]) - part;
    }
    if (!lacking.empty()) return std::nullopt;
    ReservedAllocations then = allot(host, before, next);
    std::erase_if(then, [&](const auto& each) { return each.second == before.at(each.first); });
    return then;
}

}  // namespace reaper

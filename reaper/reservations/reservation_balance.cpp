#include "reaper/reservations/reservation_balance.hpp"

#include <algorithm>

namespace reaper {
namespace {

/// Takes of `from` what both have.
Resources take(Resources& from, const Resources& wanted) {
    Resources taken = common(wanted, from);
    from -= taken;
    return taken;
}

/// The roles of servers, those farthest down first: what they can't use is for those above.
std::vector<Role> from_below(const std::map<Role, Resources>& by_role) {
    std::vector<Role> roles;
    for (const auto& each : by_role) roles.push_back(each.first);
    std::ranges::stable_sort(roles,
                             [](const Role& a, const Role& b) { return a.depth() > b.depth(); });
    return roles;
}

/// What of `asked` the servers of its role and those below hold.
std::map<ReservationId, Resources> used_of(const HostReservations& reservations,
                                           const std::map<Role, Resources>& by_role) {
    std::multimap<Role, ReservationId> of_role;
    for (const auto& [id, reservation] : reservations)
        of_role.emplace(reservation.identity.role, id);
    std::map<ReservationId, Resources> used;
    for (const Role& server : from_below(by_role)) {
        Resources left = above_none(by_role.at(server));
        for (std::optional<Role> role = server; role && !left.empty(); role = role->parent())
            for (auto [at, end] = of_role.equal_range(*role); at != end; ++at) {
                Resources& known = used[at->second];
                known += take(left, reservations.at(at->second).asked - known);
            }
    }
    return used;
}

}  // namespace

Resources free_of(const HostReservations& reservations, const HostUse& use) {
    Resources free = use.free;
    for (const auto& [id, held] : use.held)
        if (!reservations.contains(id)) free += held;
    return free;
}

std::map<ReservationId, ReservationBalance> balance_of(const HostReservations& reservations,
                                                       const HostUse& use) {
    std::map<ReservationId, ReservationBalance> balances;
    const auto used = used_of(reservations, use.by_role);
    auto then = use.by_role;
    for (const auto& [role, amounts] : use.coming) then[role] += amounts;
    const auto used_then = used_of(reservations, then);
    Resources free = free_of(reservations, use);
    for (const auto& [id, reservation] : reservations) {
        ReservationBalance& balance = balances[id];
        if (const auto at = used.find(id); at != used.end()) balance.used = at->second;
        if (const auto at = use.held.find(id); at != use.held.end()) balance.held = at->second;
        // What one releases, another one may take at the same time.
        balance.next = common(balance.held, reservation.asked - balance.used);
        free += balance.held - balance.next;
    }
    Resources revocable = above_none(use.revocable);
    Resources beyond = above_none(use.beyond);
    free = above_none(free);
    Resources waiting = above_none(use.waiting);
    Resources leaving = above_none(above_none(use.free + use.leaving) - free);
    for (auto& [id, balance] : balances) {
        const Resources should = reservations.at(id).asked - balance.used;
        const Resources missing = above_none(should - balance.held);
        const auto at = used_then.find(id);
        const Resources coming =
            at == used_then.end() ? Resources{} : above_none(at->second - balance.used);
        const Resources grows = take(free, above_none(missing - coming));
        balance.next += grows;
        Resources occupied = above_none(missing - grows - coming);
        occupied -= take(waiting, occupied);
        occupied -= take(leaving, occupied);
        balance.lent = take(revocable, occupied);
        balance.owed = missing - balance.lent;
        balance.taken = occupied - balance.lent;
        balance.beyond = take(beyond, balance.held);
    }
    return balances;
}

Resources lendable(const Reservation& reservation, const ReservationBalance& balance) {
    if (!reservation.lending.lend) return {};
    return above_none(common(balance.held, reservation.asked - balance.used) -
                      reservation.lending.floor);
}

}  // namespace reaper

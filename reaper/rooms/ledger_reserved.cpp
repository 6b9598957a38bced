// What reservations keep for their roles: for nobody else, and not twice where it is promised to a
// request of the role already.
#include <algorithm>
#include <utility>

#include "reaper/rooms/ledger.hpp"

namespace reaper {
namespace {

/// So that promises to reservations are told from those to requests.
RequestId request_of(const ReservationId& reservation) {
    return RequestId{"reservation " + reservation.str()};
}

}  // namespace

void Ledger::reserve(const HostId& host, ReservedRoom reserved) {
    std::erase_if(reserved.missing, [](const auto& each) { return each.amounts.empty(); });
    const auto known = reserved_.find(host);
    if (known == reserved_.end() ? reserved.empty() : known->second == reserved) return;
    if (known != reserved_.end())
        for (const auto& tenant : known->second.tenants) {
            // It may be a tenant elsewhere by now.
            const auto at = tenants_.find(tenant.first);
            if (at != tenants_.end() && at->second.host == host) tenants_.erase(at);
            changes_.add({host, tenant.first});
        }
    for (const auto& [tenant, role] : reserved.tenants) {
        tenants_.insert_or_assign(tenant, Tenancy{host, role});
        changes_.add({host, tenant});
    }
    if (reserved.empty())
        reserved_.erase(known);
    else
        reserved_.insert_or_assign(host, std::move(reserved));
    changes_.add({host, {}});
    weigh(host);
}

/// Of what reservations lack, what is not promised to requests that may have it.
void Ledger::weigh(const HostId& host) {
    const auto reserved = reserved_.find(host);
    if (reserved == reserved_.end()) {
        kept_.erase(host);
        return;
    }
    std::vector<Promise> kept;
    const auto keep = [&](const ReservedRoom::Missing& missing, Resources amounts, bool free) {
        Promise promise;
        promise.request = request_of(missing.reservation);
        promise.host = host;
        promise.slot = std::move(amounts);
        promise.slots = 1;
        promise.reservation = missing.reservation;
        promise.role = missing.role;
        promise.occupied = !free;
        kept.push_back(std::move(promise));
    };
    for (const ReservedRoom::Missing& missing : reserved->second.missing) {
        keep(missing, missing.free, true);
        keep(missing, missing.amounts - missing.free, false);
    }
    for (const Promise* const promise : found(promises_.on(host))) {
        Resources promised = promise->slot * promise->kept();
        for (Promise& each : kept)
            if (is_for(each, promise->request)) {
                const Resources both = common(promised, each.slot);
                promised -= both;
                each.slot -= both;
            }
    }
    std::erase_if(kept, [](const Promise& each) { return each.slot.empty(); });
    if (kept.empty())
        kept_.erase(host);
    else
        kept_.insert_or_assign(host, std::move(kept));
    changes_.add({host, {}});
}

void Ledger::admit(const Request& request) {
    Rights rights{request.role, request.lent_by, request.borrows};
    const bool none = rights == Rights{};
    const Rights* const known = rights_of(request.id);
    if (known == nullptr ? none : *known == rights) return;
    if (none)
        rights_.erase(request.id);
    else
        rights_.insert_or_assign(request.id, std::move(rights));
    for (const auto number : promises_.of(request.id)) weigh(promises_[number].host);
    if (rights_.size() > max_rights) forget_rights(request.id);
}

/// Of requests to which nothing is promised.
void Ledger::forget_rights(const RequestId& but) {
    std::erase_if(rights_, [&](const auto& each) {
        return each.first != but && promises_.of(each.first).empty();
    });
}

const Ledger::Rights* Ledger::rights_of(const RequestId& request) const {
    const auto at = rights_.find(request);
    return at == rights_.end() ? nullptr : &at->second;
}

bool Ledger::is_for(const Promise& promise, const RequestId& request) const {
    if (promise.reservation.empty()) return promise.request == request;
    const Rights* const rights = rights_of(request);
    return rights != nullptr && is_for(promise, *rights);
}

bool Ledger::is_for(const Promise& promise, const Role& role) const {
    return !promise.reservation.empty() && is_for(promise, Rights{role, {}, false});
}

/// A reservation's promise.
bool Ledger::is_for(const Promise& promise, const Rights& rights) const {
    const auto open = [&](const ReservationId& reservation, const Role& role) {
        return (!rights.role.empty() && role.is_open_to(rights.role)) ||
               rights.lent_by.contains(reservation);
    };
    if (open(promise.reservation, promise.role)) return true;
    if (!promise.occupied) return false;
    // Nobody goes for a borrower: what is let go of for it is not what others have.
    if (rights.borrows) return true;
    // What others have is not taken from what is reserved for the request itself.
    const auto here = reserved_.find(promise.host);
    return here != reserved_.end() &&
           std::any_of(here->second.reservations.begin(), here->second.reservations.end(),
                       [&](const auto& each) { return open(each.first, each.second); });
}

std::map<Role, Resources> Ledger::promised_to_roles(const HostId& host) const {
    std::map<Role, Resources> promised;
    for (const Promise* const promise : found(promises_.on(host)))
        if (const Role role = role_of(promise->request); !role.empty())
            promised[role] += promise->slot * promise->kept();
    return promised;
}

bool Ledger::has_tenants_on(const HostId& host) const {
    const auto at = reserved_.find(host);
    return at != reserved_.end() && !at->second.tenants.empty();
}

const Role* Ledger::lender_of(const ServerId& server) const {
    const auto at = tenants_.find(server);
    return at == tenants_.end() ? nullptr : &at->second.lender;
}

Role Ledger::role_of(const RequestId& request) const {
    const Rights* const rights = rights_of(request);
    return rights == nullptr ? Role{} : rights->role;
}

const Role* Ledger::sole_role_of(const RequestId& request) const {
    const Rights* const rights = rights_of(request);
    const bool sole =
        rights != nullptr && !rights->role.empty() && rights->lent_by.empty() && !rights->borrows;
    return sole ? &rights->role : nullptr;
}

std::set<ReservationId> Ledger::lent_to(const RequestId& request) const {
    const Rights* const rights = rights_of(request);
    return rights == nullptr ? std::set<ReservationId>{} : rights->lent_by;
}

bool Ledger::stays_for(const ServerId& server, const RequestId& request) const {
    const Rights* const rights = rights_of(request);
    return stays_for(server, rights == nullptr ? Rights{} : *rights);
}

bool Ledger::stays_for(const ServerId& server, const Role& role) const {
    return stays_for(server, Rights{role, {}, false});
}

bool Ledger::stays_for(const ServerId& server, const Rights& rights) const {
    const Role* const lender = lender_of(server);
    return lender != nullptr && (rights.role.empty() || !lender->is_open_to(rights.role));
}

bool Ledger::keeps_for(const HostId& host, const Role& role) const {
    const auto kept = kept_.find(host);
    return kept != kept_.end() &&
           std::any_of(kept->second.begin(), kept->second.end(),
                       [&](const Promise& promise) { return is_for(promise, role); });
}

std::vector<HostId> Ledger::hosts_kept_for(const RequestId& request) const {
    std::vector<HostId> hosts;
    if (rights_of(request) == nullptr) return hosts;
    for (const auto& [host, kept] : kept_)
        if (std::any_of(kept.begin(), kept.end(),
                        [&](const Promise& promise) { return is_for(promise, request); }))
            hosts.push_back(host);
    return hosts;
}

}  // namespace reaper

#include "reaper/rooms/reserved_room.hpp"

#include <algorithm>
#include <utility>

namespace reaper {
namespace {

RoomPromise promise_to(const ReservedRoom::OnHost::Missing& missing, const HostId& host,
                       Resources amounts) {
    RoomPromise promise;
    // So that promises to reservations differ from those to requests.
    promise.request = RequestId{"reservation " + missing.reservation.str()};
    promise.host = host;
    promise.slot = std::move(amounts);
    promise.slots = 1;
    promise.reservation = missing.reservation;
    promise.role = missing.role;
    return promise;
}

}  // namespace

std::optional<std::vector<ServerId>> ReservedRoom::put(const HostId& host, OnHost reserved) {
    std::erase_if(reserved.missing, [](const auto& each) { return each.amounts.empty(); });
    const auto known = hosts_.find(host);
    if (known == hosts_.end() ? reserved.empty() : known->second == reserved) return std::nullopt;
    std::vector<ServerId> tenants;
    if (known != hosts_.end())
        for (const auto& [tenant, role] : known->second.tenants) {
            // It may be a tenant elsewhere by now.
            const auto at = tenants_.find(tenant);
            if (at != tenants_.end() && at->second.host == host) tenants_.erase(at);
            tenants.push_back(tenant);
        }
    for (const auto& [tenant, role] : reserved.tenants) {
        tenants_.insert_or_assign(tenant, Tenancy{host, role});
        tenants.push_back(tenant);
    }
    if (!reserved.empty()) {
        hosts_.insert_or_assign(host, std::move(reserved));
    } else {
        hosts_.erase(known);
        kept_.erase(host);
    }
    return tenants;
}

void ReservedRoom::weigh(const HostId& host, const std::vector<const RoomPromise*>& promised) {
    std::vector<RoomPromise> kept;
    for (const OnHost::Missing& missing : hosts_.at(host).missing) {
        kept.push_back(promise_to(missing, host, missing.free));
        kept.push_back(promise_to(missing, host, missing.amounts - missing.free));
        kept.back().occupied = true;
    }
    for (const RoomPromise* const promise : promised) {
        Resources left = promise->slot * promise->kept();
        for (RoomPromise& each : kept)
            if (is_for(each, promise->request)) {
                const Resources both = common(left, each.slot);
                left -= both;
                each.slot -= both;
            }
    }
    std::erase_if(kept, [](const RoomPromise& each) { return each.slot.empty(); });
    if (kept.empty())
        kept_.erase(host);
    else
        kept_.insert_or_assign(host, std::move(kept));
}

bool ReservedRoom::admit(const Request& request) {
    Rights rights{request.role, request.lent_by, request.borrows};
    if (rights_of(request.id) == rights) return false;
    if (rights == Rights{})
        rights_.erase(request.id);
    else
        rights_.insert_or_assign(request.id, std::move(rights));
    return true;
}

const ReservedRoom::Rights& ReservedRoom::rights_of(const RequestId& request) const {
    static const Rights none;
    const auto at = rights_.find(request);
    return at == rights_.end() ? none : at->second;
}

const std::vector<RoomPromise>& ReservedRoom::kept_on(const HostId& host) const {
    static const std::vector<RoomPromise> nothing;
    const auto at = kept_.find(host);
    return at == kept_.end() ? nothing : at->second;
}

bool ReservedRoom::is_for(const RoomPromise& promise, const RequestId& request) const {
    if (promise.reservation.empty()) return promise.request == request;
    return is_for(promise, rights_of(request));
}

bool ReservedRoom::is_for(const RoomPromise& promise, const Role& role) const {
    return !promise.reservation.empty() && is_for(promise, Rights{role, {}, false});
}

/// A reservation's promise.
bool ReservedRoom::is_for(const RoomPromise& promise, const Rights& rights) const {
    const auto open = [&](const ReservationId& reservation, const Role& role) {
        return (!rights.role.empty() && role.is_open_to(rights.role)) ||
               rights.lent_by.contains(reservation);
    };
    if (open(promise.reservation, promise.role)) return true;
    if (!promise.occupied) return false;
    // No server is deleted for a borrower: what is released for it is not what others have.
    if (rights.borrows) return true;
    // What others have is not taken from what is reserved for the request itself.
    const auto here = hosts_.find(promise.host);
    return here != hosts_.end() &&
           std::any_of(here->second.reservations.begin(), here->second.reservations.end(),
                       [&](const auto& each) { return open(each.first, each.second); });
}

bool ReservedRoom::has_tenants_on(const HostId& host) const {
    const auto at = hosts_.find(host);
    return at != hosts_.end() && !at->second.tenants.empty();
}

const Role* ReservedRoom::lender_of(const ServerId& server) const {
    const auto at = tenants_.find(server);
    return at == tenants_.end() ? nullptr : &at->second.lender;
}

const Role* ReservedRoom::sole_role_of(const RequestId& request) const {
    const Rights& rights = rights_of(request);
    const bool sole = !rights.role.empty() && rights.lent_by.empty() && !rights.borrows;
    return sole ? &rights.role : nullptr;
}

bool ReservedRoom::stays_for(const ServerId& server, const Role& role) const {
    const Role* const lender = lender_of(server);
    return lender != nullptr && (role.empty() || !lender->is_open_to(role));
}

bool ReservedRoom::keeps_for(const HostId& host, const Role& role) const {
    const auto& kept = kept_on(host);
    return std::any_of(kept.begin(), kept.end(),
                       [&](const RoomPromise& each) { return is_for(each, role); });
}

std::vector<HostId> ReservedRoom::hosts_kept_for(const RequestId& request) const {
    std::vector<HostId> hosts;
    if (!admitted(request)) return hosts;
    for (const auto& [host, kept] : kept_)
        if (std::any_of(kept.begin(), kept.end(),
                        [&](const RoomPromise& each) { return is_for(each, request); }))
            hosts.push_back(host);
    return hosts;
}

}  // namespace reaper

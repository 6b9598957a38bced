// What reservations keep for their roles besides what they hold in Placement: room that they lack,
// and revocable servers that they lend it to. What is promised to a request that may have it is not
// kept twice. A part of the ledger, which alone changes it. Pure data, one thread.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

#include "reaper/model/ids.hpp"
#include "reaper/model/request.hpp"
#include "reaper/model/resources.hpp"
#include "reaper/model/role.hpp"
#include "reaper/rooms/room_promise.hpp"

namespace reaper {

class ReservedRoom {
public:
    struct OnHost {
        /// Of what is free or comes free, so much is for the role: its reservation is to take it.
        struct Missing {
            ReservationId reservation;
            Role role;
            Resources amounts;
            Resources free{};  ///< so much of it is free now, and the rest in others' hands

            friend bool operator==(const Missing&, const Missing&) = default;
        };
        std::vector<Missing> missing{};
        /// Revocable servers that hold room which is lent, with the role that lends it: they go for
        /// no other role.
        std::map<ServerId, Role> tenants{};
        /// All reservations of the host. What one holds, releases or lent is not for the others
        /// that lack something, however much.
        std::map<ReservationId, Role> reservations{};

        bool empty() const { return missing.empty() && tenants.empty() && reservations.empty(); }
        friend bool operator==(const OnHost&, const OnHost&) = default;
    };

    /// Replaces what was put before; `weigh` is to follow. Returns the tenants, previous and
    /// present; none if nothing changes.
    std::optional<std::vector<ServerId>> put(const HostId& host, OnHost reserved);
    /// Of what reservations of the host lack, keeps what is not promised to requests that may have
    /// it. There must be reservations.
    void weigh(const HostId& host, const std::vector<const RoomPromise*>& promised);
    /// The request may have what is reserved for its role, and what reservations lend to it. False
    /// if that is no change; otherwise `weigh` the hosts of its promises.
    bool admit(const Request& request);
    /// Of too many requests, those that need no rights lose them.
    template <class Needs>
    void forget_rights_unless(Needs needs) {
        if (rights_.size() > max_rights)
            std::erase_if(rights_, [&](const auto& each) { return !needs(each.first); });
    }

    bool empty() const noexcept { return hosts_.empty(); }
    bool reserves_on(const HostId& host) const { return hosts_.contains(host); }
    bool keeps_anything() const noexcept { return !kept_.empty(); }
    /// Each as a promise to its reservation.
    const std::vector<RoomPromise>& kept_on(const HostId& host) const;
    /// Is something kept on the host that is for the role too?
    bool keeps_for(const HostId& host, const Role& role) const;
    /// Hosts where something is kept that is for this request too.
    std::vector<HostId> hosts_kept_for(const RequestId& request) const;
    /// Is the promise the request's, or is it for a role whose room is open to it?
    bool is_for(const RoomPromise& promise, const RequestId& request) const;
    /// The same for a request of the role that has no other right and no promise.
    bool is_for(const RoomPromise& promise, const Role& role) const;

    bool admitted(const RequestId& request) const { return rights_.contains(request); }
    /// Whose reserved room the request may have; empty: that of no role.
    Role role_of(const RequestId& request) const { return rights_of(request).role; }
    /// The same if that is its only right; null: it has others, or none.
    const Role* sole_role_of(const RequestId& request) const;
    /// The reservations that lend room to a request.
    const std::set<ReservationId>& lent_to(const RequestId& request) const {
        return rights_of(request).lent_by;
    }

    bool has_tenants_on(const HostId& host) const;
    /// The role that lends room to the server; null: it is no tenant.
    const Role* lender_of(const ServerId& server) const;
    /// Is the server a tenant that goes for others than the request?
    bool stays_for(const ServerId& server, const RequestId& request) const {
        return stays_for(server, rights_of(request).role);
    }
    bool stays_for(const ServerId& server, const Role& role) const;
    /// Hosts where reservations keep anything.
    template <class Visit>
    void each_host(Visit visit) const {
        for (const auto& [host, reserved] : hosts_) visit(host);
    }
    /// All servers that reservations lend room to, wherever they are.
    template <class Visit>
    void each_tenant(Visit visit) const {
        for (const auto& [server, tenancy] : tenants_) visit(server);
    }

private:
    static constexpr std::size_t max_rights = 4096;  ///< then those of no use are looked for
    /// What a request may have that is reserved.
    struct Rights {
        Role role;
        std::set<ReservationId> lent_by;
        bool borrows = false;

        friend bool operator==(const Rights&, const Rights&) = default;
    };
    struct Tenancy {
        HostId host;
        Role lender;
    };

    const Rights& rights_of(const RequestId& request) const;
    bool is_for(const RoomPromise& promise, const Rights& rights) const;

    std::unordered_map<HostId, OnHost> hosts_;  ///< where reservations keep anything
    std::unordered_map<HostId, std::vector<RoomPromise>> kept_;
    std::unordered_map<ServerId, Tenancy> tenants_;
    std::unordered_map<RequestId, Rights> rights_;
};

}  // namespace reaper

// The state of each reservation of a host: how much of it is used, held, lent and missing, and how
// much it should hold.
//
// For each reservation and class:
//     asked = used + held + lent + owed
// `used` is what regular servers of the role, and of roles below, hold on the host: they use what
// is nearest to their own role first. `held` is what its consumer holds in Placement. What is
// missing, and not free, is lent, as far as revocable servers hold room on the host, and owed
// beyond that: others have the room, or had it. A reservation should hold `asked - used`. It grows
// into free room, and never takes room from a server by itself.
//
// So that no more is promised than there is, what is owed counts for the role alone when it comes
// free, and a server that holds what is lent is deleted for the role alone
// (reservation_lending.hpp):
//     total >= occupied + occupied_revocable + evicting
// (Mesos' formula for reserved room that is lent; reaper/rooms has the evictions.)
#pragma once

#include <map>

#include "reaper/reservations/reservation.hpp"

namespace reaper {

/// All reservations of one host.
using HostReservations = std::map<ReservationId, Reservation>;

/// How a host is used, over all of its providers.
struct HostUse {
    /// Not held, and not promised to any request; negative where more is used than there is.
    Resources free;
    /// Free too, but left for a role that may have reserved room and has no request yet.
    Resources waiting{};
    /// Comes free for no request in particular, or for a role: its holder is being deleted.
    Resources leaving{};
    std::map<Role, Resources> by_role{};  ///< what regular servers hold whose projects have a role
    std::map<Role, Resources> coming{};   ///< promised to requests of roles: no need to grow for it
    Resources revocable{};                ///< what revocable servers hold that stay
    std::map<ReservationId, Resources> held{};  ///< what consumers of reservations hold
    Resources beyond{};                         ///< used beyond the capacity
};

struct ReservationBalance {
    Resources used;
    Resources held;
    Resources lent;
    Resources owed;
    /// Of what is owed: others hold it, and stay.
    Resources taken;
    /// What it is to hold next: what it should, as far as it holds that, it is free, or another
    /// reservation of the host releases it. All of them change in one transaction.
    Resources next;
    /// Of what is held, beyond the capacity of a host that shrank: there is no such room.
    Resources beyond{};

    Resources missing() const { return lent + owed; }
};

/// What is free, and what consumers hold whose reservations are gone: they release it in the same
/// transaction.
Resources free_of(const HostReservations& reservations, const HostUse& use);

/// By reservation. Of room that is free, and that several lack, the first by id gets it.
std::map<ReservationId, ReservationBalance> balance_of(const HostReservations& reservations,
                                                       const HostUse& use);

/// What revocable servers may be given of it: it is idle, held, and above the floor.
Resources lendable(const Reservation& reservation, const ReservationBalance& balance);

}  // namespace reaper

// Reserving and unreserving on one host, as what is asked for changes; what is held follows
// (reservation_balance.hpp). Pure: nothing changes where an error is returned.
//
// Source: Mesos' operations Reserve and Unreserve, with refinement.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "reaper/model/error.hpp"
#include "reaper/reservations/reservation.hpp"
#include "reaper/reservations/reservation_balance.hpp"

namespace reaper {

/// Reservations of a host that are alike but for who made them: to people they are one, and how
/// much of it is whose decides what who may unreserve.
struct ReservationName {
    Role role;
    Labels labels{};
    friend bool operator==(const ReservationName&, const ReservationName&) = default;
};

struct ReserveOrder {
    HostId host;
    ReservationName name;
    Resources resources;
    std::string principal{};
    /// Room of a reservation for a role above is refined; none: unreserved room is taken.
    std::optional<ReservationName> refines{};
    /// In place of what holds for it; none: as it is, or of a new one as the one that it refines is
    /// lent, or else `by_default`.
    std::optional<LendingPolicy> lending{};
    LendingPolicy by_default{};
};

struct UnreserveOrder {
    HostId host;
    ReservationName name;
    Resources resources;
    /// Of these principals alone; none: whoever made it.
    std::optional<std::set<std::string>> principals{};
    /// Of this one alone: who reserved it.
    std::optional<std::string> reserver{};
    /// Of several, this one's goes first: who orders.
    std::string own{};
    /// Of what was taken from this one alone, which it returns to.
    std::optional<ReservationName> refines{};
    /// Of what was taken from unreserved room alone.
    bool unrefined = false;
    /// Also what is lent: its tenants go first. Else that is an error.
    bool lent_too = false;
};

/// What a change did, by reservation: what it has more of, or less.
using ReservationDelta = std::map<ReservationId, Resources>;

/// `conflict`: the host lacks unreserved room, or the one above has not so much that is not used.
/// `not_found`: there is nothing to refine. `bad_input`: the role is not below, nothing is asked
/// for, or oversubscribed room is, more is never to be lent than is reserved, or it can't be
/// written down in Placement.
Result<ReservationDelta> reserve(HostReservations& reservations, const HostUse& use,
                                 const ReserveOrder& order);

/// The room is its previous owner's again, or nobody's. `not_found`: there is no such reservation,
/// or none of those principals. `conflict`: it has not so much; or so much is not idle, or is in
/// the configuration; or it is not told to whom a part of it returns.
Result<ReservationDelta> unreserve(HostReservations& reservations, const HostUse& use,
                                   const UnreserveOrder& order);

/// What tenants hold of it that have to go first, by reservation: as little as can be. Nothing
/// where all of it is idle.
std::map<ReservationId, Resources> lent_of(const HostReservations& reservations, const HostUse& use,
                                           const UnreserveOrder& order);

/// What the configuration says of a host: by reservation, what its role is to have in all, what was
/// refined included. Its own reservations become these; what is in its way stays, and is told in
/// the balance as owed. Returns what changed.
ReservationDelta configure(HostReservations& reservations,
                           const std::map<ReservationId, Reservation>& wanted);

}  // namespace reaper

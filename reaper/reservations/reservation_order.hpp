// What is ordered of reservations, as a text: to know the same order again under its key, and to go
// on with it after a restart. Pure.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "reaper/model/error.hpp"
#include "reaper/reservations/reservation.hpp"
#include "reaper/reservations/reservation_balance.hpp"

namespace reaper {

// Reserving and unreserving on one host, as what is asked for changes; what is held follows
// (reservation_balance.hpp). Pure: nothing changes where an error is returned.
//
// Source: Mesos' operations Reserve and Unreserve, with refinement.

/// Reservations of a host that differ only in their principals: people see them as one. How much of
/// it has which principal decides which of them may unreserve it.
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
    /// Of these principals alone; none: of all principals.
    std::optional<std::set<std::string>> principals{};
    /// Of this principal alone.
    std::optional<std::string> reserver{};
    /// Of several, this principal's goes first: the one of the order.
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

/// `conflict`: the host lacks unreserved room, or the one above has too little that is not used.
/// `not_found`: there is nothing to refine. `bad_input`: the role is not below, nothing is asked
/// for, or oversubscribed room is, more is never to be lent than is reserved, or it can't be
/// written down in Placement.
Result<ReservationDelta> reserve(HostReservations& reservations, const HostUse& use,
                                 const ReserveOrder& order);

/// The room goes back to its previous owner, or is free. `not_found`: there is no such reservation,
/// or none of those principals. `conflict`: it is smaller; or that much is not idle, or is in the
/// configuration; or it is not known to whom a part of it returns.
Result<ReservationDelta> unreserve(HostReservations& reservations, const HostUse& use,
                                   const UnreserveOrder& order);

/// What tenants hold of it that have to go first, by reservation: as little as can be. Nothing
/// where all of it is idle.
std::map<ReservationId, Resources> lent_of(const HostReservations& reservations, const HostUse& use,
                                           const UnreserveOrder& order);

/// What the configuration says of a host: by reservation, what its role is to have in all, what was
/// refined included. Its own reservations become these; what is in its way stays, and is counted as
/// owed in the balance. Returns what changed.
ReservationDelta configure(HostReservations& reservations,
                           const std::map<ReservationId, Reservation>& wanted);

using ReservationOrder = std::variant<ReserveOrder, UnreserveOrder>;

const HostId& host_of(const ReservationOrder& order);
/// Is any of them to be done although room is lent, when the tenants are gone?
bool any_lent_too(const std::vector<ReservationOrder>& orders);
/// The same, of what is idle alone.
std::vector<ReservationOrder> without_lent(std::vector<ReservationOrder> orders);

/// One line for each. The principals are not in it: all of them have the same one.
std::string text_of_orders(const std::vector<ReservationOrder>& orders);
/// The inverse. `bad_input`: it was not written by it.
Result<std::vector<ReservationOrder>> parse_orders(const std::string& text);

/// A short mark for an order under its key, for the records that it changes: as much of the key's
/// as of the content's digest. Empty without a key.
std::string mark_of_order(const std::string& principal, const std::string& key,
                          const std::string& content);
/// Of one key, maybe with another content.
bool same_key(const std::string& mark, const std::string& other);

}  // namespace reaper

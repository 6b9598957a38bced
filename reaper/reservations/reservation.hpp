// A reservation: room on one host that is kept for a role.
//
// In Placement it is a consumer of type RESERVATION, whose id follows from what the reservation is
// (reservation_id), and whose project and user say the rest (reservation_record.hpp). Nova's
// scheduler honours what it holds, and every reaper sees it.
//
// What the role's own servers use of it counts: `asked` is what the role is to have on the host in
// total, and the reservation holds what of that its servers do not hold themselves
// (reservation_balance.hpp).
//
// Source: Mesos' reservations: static and dynamic ones, labels, principals, refinement.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "reaper/model/ids.hpp"
#include "reaper/model/resources.hpp"
#include "reaper/model/role.hpp"
#include "reaper/model/time.hpp"

namespace reaper {

using Labels = std::map<std::string, std::string>;

/// Whether revocable servers may use what is idle of it.
struct LendingPolicy {
    bool lend = false;
    Resources floor{};   ///< is never lent
    Duration longest{};  ///< how long a tenant may stay; 0: as long as the room is idle

    friend bool operator==(const LendingPolicy&, const LendingPolicy&) = default;
};

/// What makes it this reservation and no other: two of the same identity are one.
struct ReservationIdentity {
    HostId host;
    Role role;
    Labels labels{};
    std::string principal{};   ///< of the order; may be empty
    bool from_config = false;  ///< static: neither the API nor refinement change it
    ReservationId refines{};   ///< the one that it was taken from, which it returns to; or none

    friend auto operator<=>(const ReservationIdentity&, const ReservationIdentity&) = default;
    friend bool operator==(const ReservationIdentity&, const ReservationIdentity&) = default;
};

struct Reservation {
    ReservationIdentity identity;
    Resources asked;  ///< without what was refined further
    LendingPolicy lending{};
    /// Of the orders that changed it last (mark_of_order), the newest first: given again, they are
    /// known.
    std::vector<std::string> marks{};

    friend bool operator==(const Reservation&, const Reservation&) = default;
};

/// Why a class can't be reserved; empty: it can. Oversubscribed room (`CUSTOM_REVOCABLE_VCPU`)
/// belongs to servers that do not use it now, and is lost when they need it: it can't be promised.
std::string why_not_reservable(const ResourceClass& resource_class);

/// The same for all reapers: a UUID of version 5 (RFC 9562), named by the identity.
ReservationId reservation_id(const ReservationIdentity& identity);

/// So many are kept, while Placement has room for them.
inline constexpr std::size_t max_order_marks = 3;
/// An order changed it; an empty mark is none.
void add_mark(Reservation& reservation, const std::string& mark);

/// For people: `engineering/backend on host-3`, with its labels.
std::string to_string(const ReservationIdentity& identity, const std::string& host_name);

// Which principals may reserve for which roles, and unreserve which principals' reservations.
//
// The first rule that names the principal decides. Where none does, everything is allowed, or
// nothing (`permissive`). Principals and roles are patterns: `*` stands for any text, so that
// `engineering/*` is every role below engineering; a principal that is not known is the empty text.
//
// Source: Mesos' ACLs reserve_resources and unreserve_resources.

struct ReserveRule {
    std::vector<std::string> principals;
    std::vector<std::string> roles;  ///< for these alone; empty: for none
    friend bool operator==(const ReserveRule&, const ReserveRule&) = default;
};

struct UnreserveRule {
    std::vector<std::string> principals;
    std::vector<std::string> of;  ///< what these reserved; empty: nothing
    friend bool operator==(const UnreserveRule&, const UnreserveRule&) = default;
};

struct ReservationAcl {
    std::vector<ReserveRule> reserve{};
    std::vector<UnreserveRule> unreserve{};
    bool permissive = true;
    friend bool operator==(const ReservationAcl&, const ReservationAcl&) = default;
};

bool may_reserve(const ReservationAcl& acl, const std::string& principal, const Role& role);
bool may_unreserve(const ReservationAcl& acl, const std::string& principal,
                   const std::string& reserver);

}  // namespace reaper

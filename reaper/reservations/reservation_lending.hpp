// Lending: revocable servers use reserved room while it is idle, and go when its role comes.
//
// The lender is the reservation: it releases room, and a revocable server takes it. The borrowers
// follow from Placement: as much as is lent (reservation_balance.hpp) of what revocable servers
// hold, those that came last first. So no loan is lost with a process, and a server that Nova moved
// is a tenant where it now is.
//
// Source: Mesos' "oversubscription for reservation": the lender and its tenants.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "reaper/reservations/reservation_allotment.hpp"
#include "reaper/rooms/reserved_room.hpp"

namespace reaper {

/// The tenants of each reservation of the host. A server that holds more than is lent is a tenant
/// too: it can't go in part.
std::map<ReservationId, std::vector<const Server*>> tenants_of(
    const Host& host, const std::map<ReservationId, ReservationBalance>& balances,
    const Ledger& ledger);

/// What the reservations keep of the host for their roles alone.
ReservedRoom::OnHost reserved_room(const Host& host, const HostReservations& reservations,
                                   const std::map<ReservationId, ReservationBalance>& balances,
                                   const Ledger& ledger);

/// What a reservation takes back, without a request of its role.
struct EndedLoan {
    ReservationId reservation;
    Role role;
    std::string service_host;
    Resources amounts;
    std::set<ServerId> tenants;  ///< they hold it; no other server is deleted for it
    std::string why;             ///< for people: a clause
};

/// Requests that end loans: by their ids it is known whose they are, also after a restart.
RequestId loan_request_id(const ReservationId& reservation, TimePoint now, unsigned number);
/// None: it is no such request.
std::optional<ReservationId> reservation_of_loan(const RequestId& request);

/// When the server came to where it is.
TimePoint came_at(const Server& server);
/// What these tenants of a reservation hold of `lent`.
EndedLoan loan_of(const Reservation& reservation, const Host& host, const Resources& lent,
                  const std::vector<const Server*>& tenants);

/// How long a reservation is not lent after its role came and tenants went for it: `calm`, twice as
/// long each time that it was lent again, until nothing happens for as long again.
class CalmTime {
public:
    /// Tenants go; `lent_since`: since the last time. All times are steady.
    void disturbed(Duration now, Duration calm, bool lent_since);
    bool over(Duration now) const { return now >= until_; }
    Duration until() const noexcept { return until_; }

private:
    static constexpr int most_doublings = 6;

    int times_ = 0;
    Duration length_{};
    Duration until_ = Duration::min() / 2;  // long ago, also in a process that has just begun
};

}  // namespace reaper

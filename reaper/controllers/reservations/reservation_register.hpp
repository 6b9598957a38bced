// All reservations, as Placement has them: the consumers that hold a unit of the register's class
// (reaper/reservations/reservation_record.hpp).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "reaper/model/records.hpp"
#include "reaper/ports/placement.hpp"
#include "reaper/reservations/reservation.hpp"

namespace reaper {

struct RegisteredReservation {
    Reservation reservation;
    Consumer record;  ///< with the generation that a change must name
};

struct RegisterReading {
    /// The register's provider is there: `reaper setup reservations` made it.
    bool set_up = true;
    std::map<ReservationId, RegisteredReservation> reservations;
    std::vector<std::string>
        remarks;  ///< on consumers there that are no reservations; one line each
};

/// A call for the register and one for each reservation. An error: not all could be read.
ResultTask<RegisterReading> read_register(Placement& placement);
/// One of them; its `record` holds nothing if it is none in Placement.
ResultTask<Consumer> read_reservation(Placement& placement, ReservationId id);

}  // namespace reaper

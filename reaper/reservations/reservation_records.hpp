// What to write to Placement about a host's reservations, so that their records say what is asked
// for, and their consumers hold what they are to hold. Pure.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "reaper/model/error.hpp"
#include "reaper/model/records.hpp"
#include "reaper/reservations/reservation_allotment.hpp"

namespace reaper {

/// As Placement has them.
using ReservationRecords = std::map<ReservationId, Consumer>;

struct RecordChanges {
    std::vector<ConsumerChange> changes;
    std::string short_of;  ///< what the units of the inventories refuse; or empty
};

/// What they hold on their host.
ReservedAllocations held_by(const ReservationRecords& records);

/// From what was asked for `before` to `after`; `next`: what each is to hold. Those that change get
/// the mark of the order, if there is one. An error: one can't be written down (record_of).
Result<RecordChanges> changes_on(const Host& host, const ReservationRecords& records,
                                 const HostReservations& before, const HostReservations& after,
                                 const std::map<ReservationId, Resources>& next,
                                 const std::string& mark);
/// What happens to room that is held on a host that is gone.
enum class OnGone {
    stays,
    release,  ///< else the provider could not be removed; the record stays
};
/// The same on such a host.
Result<RecordChanges> changes_on_gone(const ReservationRecords& records,
                                      const HostReservations& before, const HostReservations& after,
                                      OnGone held, const std::string& mark);

/// Does the last reading of the host show something else than the records?
bool shows_otherwise(const Host& host, const ReservationRecords& records);

}  // namespace reaper

// What reservations of a host keep for their roles besides what they hold in Placement: room that
// they lack, and revocable servers that they lend it to. Pure data.
#pragma once

#include <map>
#include <vector>

#include "reaper/model/ids.hpp"
#include "reaper/model/resources.hpp"
#include "reaper/model/role.hpp"

namespace reaper {

struct ReservedRoom {
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
    /// nobody else.
    std::map<ServerId, Role> tenants{};
    /// All reservations of the host. What one holds, lets go of or lent is not for the others that
    /// lack something, however much.
    std::map<ReservationId, Role> reservations{};

    bool empty() const { return missing.empty() && tenants.empty() && reservations.empty(); }
    friend bool operator==(const ReservedRoom&, const ReservedRoom&) = default;
};

}  // namespace reaper

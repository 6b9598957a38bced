// Looks for idle reserved room for one request: on which hosts its slots would fit if reservations
// released what they may, and what each of them then releases. Hosts are tried in pages, until
// something fits or all were seen. If sums show that not a single slot can fit, nothing is tried.
// Pure: a function says what would be decided on some hosts.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "reaper/model/cloud.hpp"
#include "reaper/model/plan.hpp"
#include "reaper/model/request.hpp"
#include "reaper/reservations/reservation_records.hpp"
#include "reaper/rooms/ledger.hpp"

namespace reaper {

/// The request for which room is released.
struct RoomWish {
    Request request;
    bool borrowed = false;         ///< by a revocable server: no deletion is made or waited for
    std::size_t most_victims = 0;  ///< how many servers may be deleted besides
};

/// What may be released, by reservation.
using GivenRoom = std::map<ReservationId, Resources>;

/// A host whose reservations hold something that may be released.
struct IdleRoom {
    const Host* host = nullptr;
    Resources most;  ///< the upper limit of it
};

struct IdleRoomSearch {
    /// What would be decided for the request if there were these hosts alone.
    std::function<Decision(const Request&, const std::vector<Host>&)> decide;
    /// What may be released there: exactly, which may cost more than `most`.
    std::function<GivenRoom(const Host&)> given;
    /// The host without it.
    std::function<Host(const Host&, const GivenRoom&)> without;
    const Ledger& ledger;
};

struct FoundRoom {
    std::vector<HostPlan> plans;  ///< empty: it fits nowhere
    std::vector<Host> hosts;      ///< of the plans, as they would be

    bool empty() const { return plans.empty(); }
};

/// Where so many of its servers as possible fit without a deletion; else where all of them do with
/// at most `most_victims`. A borrower's room is where least is left over.
FoundRoom find_idle_room(const RoomWish& wish, std::vector<IdleRoom> rooms,
                         const IdleRoomSearch& search);

/// The host as if these reservations had released this much.
Host without_given(const Host& host, const ReservationRecords& records, const GivenRoom& given);

/// What is missing on the host, in its present state, for the slots of the plan: what reservations
/// are to release.
Resources lacking_on(const Host& host, const HostPlan& plan, const RoomWish& wish,
                     const Ledger& ledger);

/// What each that gives something holds then, so that `lacking` is free; those farthest down the
/// path of roles give first. None: they can't give as much.
std::optional<ReservedAllocations> room_to_release(const Host& host,
                                                   const HostReservations& reservations,
                                                   const ReservationRecords& records,
                                                   const GivenRoom& given, Resources lacking);

}  // namespace reaper

// What the admin API asks the daemon for.
#pragma once

#include <optional>

#include "reaper/api/daemon_view.hpp"
#include "reaper/model/plan.hpp"
#include "reaper/model/request.hpp"
#include "reaper/model/room_answer.hpp"
#include "reaper/runtime/task.hpp"

namespace reaper {
class OperatorTrigger;
class ReservationController;
class RoomPublisher;
class ServerProtections;
}  // namespace reaper

namespace reaper::api {

class Daemon {
public:
    virtual ~Daemon() = default;
    /// None before the cloud was read for the first time.
    virtual std::optional<DaemonView> view() const = 0;
    virtual DaemonStatus status() const = 0;
    /// What would be decided for the request now, on the cache as it is. Nothing is written or
    /// remembered, nor read but the role of its project. None before the cloud was read for the
    /// first time.
    virtual Task<std::optional<Decision>> would_decide(Request request) = 0;
    /// Likewise: what there is room for.
    virtual Task<std::optional<RoomAnswer>> room_for(Request request) = 0;

    // Null while it does not run:
    /// Where operators ask for room.
    virtual OperatorTrigger* operators() = 0;
    /// Room that is kept for roles.
    virtual ReservationController* reservations() = 0;
    /// Servers that operators protect.
    virtual ServerProtections* protections() = 0;
    /// Room that is sold beyond what is allocated.
    virtual const RoomPublisher* room_publisher() = 0;
};

}  // namespace reaper::api

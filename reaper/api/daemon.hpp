// What the admin API asks the daemon for.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "reaper/cloud/cache/cloud_cache.hpp"
#include "reaper/decision/policy.hpp"
#include "reaper/model/plan.hpp"
#include "reaper/model/request.hpp"
#include "reaper/model/room_answer.hpp"
#include "reaper/rooms/ledger.hpp"
#include "reaper/runtime/task.hpp"
#include "reaper/safeguards/safeguards.hpp"

namespace reaper {

// What the daemon knows now, for readers.

/// It changes with everything that happens: look at it without waiting in between.
struct DaemonView {
    const CloudCache& cache;
    const Ledger& ledger;
    const CompiledPolicy& policy;
    const Notices& notices;
};

/// How the daemon is. Reasons are one line for people.
struct DaemonStatus {
    bool dry_run = false;
    bool ready = false;    ///< the broker delivers, and the cloud answered
    bool serving = false;  ///< of several reapers on one queue, this is the one that acts
    std::string line;      ///< as reported to systemd
    std::optional<std::string> paused{};     ///< by an operator
    std::optional<std::string> breaker{};    ///< the circuit breaker is open
    std::optional<std::string> held_back{};  ///< what culls rest on is not so
    /// Why no request can be helped now: one of these, or another reason.
    std::optional<std::string> no_help{};
    bool broker_connected = false;
    std::string broker;  ///< which one, or why there is none
    bool events_flow = false;
    std::string cache;  ///< how old it is, or what is being read
    std::size_t in_flight = 0;
    std::size_t served = 0;
    std::string strategy;
    Duration approved_max_age{};                        ///< cull.approved_max_age
    bool reservations = false;                          ///< room is kept for roles
    std::optional<std::string> reservations_unknown{};  ///< why what is reserved is not counted
    bool oversubscription = false;                      ///< room is sold beyond what is allocated
    CircuitState circuit{};                             ///< the circuit breaker of the whole cloud
    std::vector<Safeguards::LeftAlone> left_alone{};
    std::vector<Notice> notices{};  ///< under way
};

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
    /// The same for a question: what there is room for.
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

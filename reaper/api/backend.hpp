// What the admin API shows of the daemon, and asks it for.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "reaper/api/daemon_view.hpp"
#include "reaper/api/settled_query.hpp"
#include "reaper/model/plan.hpp"
#include "reaper/model/room_answer.hpp"
#include "reaper/ports/compute.hpp"
#include "reaper/ports/identity.hpp"
#include "reaper/ports/journal.hpp"
#include "reaper/ports/pause_switch.hpp"
#include "reaper/requests/record_feed.hpp"
#include "reaper/runtime/clock.hpp"
#include "reaper/triggers/operator.hpp"

namespace reaper {
class ReservationController;
class RoomPublisher;
class ServerProtections;
}  // namespace reaper

namespace reaper::api {

struct Health;  // health.hpp
class EventHub;

/// One of those that listen to the same queue.
struct KnownReaper {
    std::string machine;
    std::string journal;  ///< path: which of several on one machine
    bool here = false;
    bool serves = false;
};

/// All of it must outlive the answers. What may be left out is answered with 503.
struct Backend {
    ViewDaemon view;
    JournalReader& journal;
    RecordFeed& feed;
    /// Null while the daemon does not run.
    std::function<OperatorTrigger*()> operators;
    std::function<ReservationController*()> reservations;    ///< likewise
    std::function<const RoomPublisher*()> room_publisher{};  ///< likewise
    std::function<Health()> health{};                        ///< empty: nobody can tell
    std::function<Task<std::string>()> metrics{};            ///< likewise; the page for Prometheus
    std::function<DaemonStatus()> status{};
    /// What would be decided for the request now, on the cache as it is: nothing is written or
    /// remembered. None before the cloud was read for the first time.
    std::function<Task<std::optional<Decision>>(Request)> would_decide{};
    /// Likewise: what there is room for.
    std::function<Task<std::optional<RoomAnswer>>(Request)> room_for{};
    Compute* compute = nullptr;    ///< knows flavors
    Identity* identity = nullptr;  ///< knows the names of projects
    Clock* clock = nullptr;
    Switch* pause = nullptr;
    Switch* breaker = nullptr;
    EventHub* events = nullptr;
    /// This one, and the one that serves if it is another; an error: that can't be told.
    std::function<ResultTask<std::vector<KnownReaper>>()> reapers{};
    /// Null while the daemon does not run.
    std::function<ServerProtections*()> protections{};
    std::string program_version{};
    /// Whether usage is being counted: that is done for one at a time. Never null.
    std::shared_ptr<bool> counts_usage = std::make_shared<bool>(false);
    /// Never null.
    std::shared_ptr<RecentlySettled> settled = std::make_shared<RecentlySettled>();
};

}  // namespace reaper::api

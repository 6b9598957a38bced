// What all requests are served with.
#pragma once

#include <vector>

#include "reaper/controllers/freed_room/freed_room_tracker.hpp"
#include "reaper/controllers/freed_room/inventory_reserver.hpp"
#include "reaper/controllers/safeguards/safeguard_controller.hpp"
#include "reaper/decision/live_settings.hpp"
#include "reaper/kept_room/kept_rooms.hpp"
#include "reaper/ports/cloud_ports.hpp"
#include "reaper/ports/journal.hpp"
#include "reaper/requests/fresh_decision.hpp"
#include "reaper/requests/newest_requests.hpp"
#include "reaper/requests/planner_warmer.hpp"
#include "reaper/requests/recent_refusals.hpp"
#include "reaper/rooms/room_keeper.hpp"
#include "reaper/runtime/async.hpp"
#include "reaper/runtime/retry.hpp"
#include "reaper/runtime/turns.hpp"

namespace reaper {

/// Of the whole daemon; all of it outlives the requests.
struct RequestServices {
    CloudPorts cloud;
    Journal& journal;
    RoomKeeper& rooms;
    CacheRefresher& refresher;
    FreshDecision& decisions;
    PlannerWarmer& warmer;
    CullPreconditions& preconditions;
    SafeguardController& safeguards;
    FreedRoomTracker& tracker;
    InventoryReserver& reserver;
    KeptRooms& kept_rooms;
    Turns& planning;  ///< a plan is entered before the next one is made; a request that others wait
                      ///< for goes first
    AsyncSemaphore& deletions;  ///< bounds the deletions sent at a time
    const LiveSettings& settings;
    const bool& stopping;
};

/// What the coordinator knows of requests in flight.
class ActiveRequests {
public:
    virtual ~ActiveRequests() = default;
    /// Why the right to act for it may not be ours, as text; none if it surely is.
    virtual std::optional<std::string> why_not_leased(const RequestId& id) const = 0;
    /// The client that waited for its outcome has left for good.
    virtual bool is_given_up(const RequestId& id) const = 0;
};

/// What one runner works with.
struct RunnerDependencies {
    RequestServices services;
    const ActiveRequests& active;
    const NewestRequests& newest;
    RecentRefusals& refusals;
    JournalTrouble& journal_trouble;
};

}  // namespace reaper

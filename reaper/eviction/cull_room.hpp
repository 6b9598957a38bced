// How a request keeps others off its room: by `reserved`, and by escrow.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "reaper/cloud_reader/cache_refresher.hpp"
#include "reaper/controllers/freed_room/inventory_reserver.hpp"
#include "reaper/decision/live_settings.hpp"
#include "reaper/escrow/escrow.hpp"
#include "reaper/model/plan.hpp"
#include "reaper/model/request.hpp"
#include "reaper/rooms/room_keeper.hpp"

namespace reaper {

/// Of one request. All that it is made with must outlive it and its coroutines.
class CullRoom {
public:
    CullRoom(const RoomKeeper& rooms, const CacheRefresher& refresher, InventoryReserver& reserver,
             Escrow& escrow, const LiveSettings& settings, const Request& request)
        : rooms_(rooms),
          refresher_(refresher),
          reserver_(reserver),
          escrow_(escrow),
          settings_(settings),
          request_(request) {}

    /// Before any server is deleted on these hosts: keeps new servers off the room that comes free.
    /// False: there was nothing to do for that.
    Task<bool> hold(std::vector<HostId> hosts);
    /// Before any server is deleted: takes the room that the plan counts on and that is already
    /// free. Returns why not, if another consumer has it: the plan does not hold.
    Task<std::optional<std::string>> take_free(std::vector<HostPlan> hosts);
    /// Right before the deletion of the victim goes out: keeps what it holds for the requester.
    /// False: it holds something else than `held`, which the last look showed; nothing was done.
    Task<bool> put_in_escrow(ServerId victim, HostId host, Allocations held);
    /// Room came free on one of these hosts that was in escrow when it was read.
    bool came_free_on(const std::set<HostId>& hosts) const;

private:
    bool keeps_room() const;
    Resources free_part(const HostPlan& plan) const;
    bool others_free_room_on(const HostId& host) const;

    const RoomKeeper& rooms_;
    const CacheRefresher& refresher_;
    InventoryReserver& reserver_;
    Escrow& escrow_;
    const LiveSettings& settings_;
    const Request& request_;
};

}  // namespace reaper

// What the parts of the gateway use of the rest of the program.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>

#include "config/settings.hpp"
#include "reaper/cloud/reader/cache_refresher.hpp"
#include "reaper/decision/live_settings.hpp"
#include "reaper/decision/requester_class.hpp"
#include "reaper/escrow/escrow.hpp"
#include "reaper/model/plan.hpp"
#include "reaper/ports/message_source.hpp"
#include "reaper/ports/trigger.hpp"
#include "reaper/rooms/room_keeper.hpp"
#include "reaper/runtime/async.hpp"

namespace reaper {

/// All of it must outlive the gateway and the calls that it handles; `live` may change.
struct GatewayPorts {
    CloudPorts cloud;  ///< with Placement as it is
    const CacheRefresher& refresher;
    RoomKeeper& rooms;
    Escrow& escrow;
    const MessageSource& messages;  ///< who serves the queue
    const LiveSettings& live;
    /// Why no request can be helped now; none if all is well.
    std::function<std::optional<std::string>()> unable;
    /// Room may be lent to a revocable requester.
    std::function<bool()> lends;
    /// What would be decided for a request, by what is known now: nothing is done.
    std::function<Decision(const Request&)> consider;
    /// A server that says which kind of room it admits got some.
    std::function<void(const ServerId&)> placed;
    /// Runs what goes on by itself; this lives until it ends.
    std::function<void(Task<void>)> spawn;
    RequestSink& sink;
    const bool& stopping;

    const CloudCache& cache() const { return refresher.cache(); }
    const Ledger& ledger() const { return rooms.ledger(); }
    const config::Gateway& settings() const { return live.gateway; }
    Duration steady() const { return cloud.clock.steady(); }
    /// How nova-scheduler is set up, by now. It asks the gateway.
    const SchedulerRules& scheduler() const { return live.policy->scheduler; }
    /// Why a requester is revocable, by what is known now; none if it is regular.
    std::optional<std::string> why_revocable(const Request& request) const {
        return why_requester_revocable(*live.policy, request, cache().index(), cache().tag_data());
    }
    /// Is each server of the project revocable, whatever else it is?
    bool is_revocable(const ProjectId& project) const {
        return reaper::is_revocable(project, live.policy->taggers, cache().tag_data());
    }
    /// Classes whose inventories are room that is offered as revocable, by now.
    const std::set<ResourceClass>& revocable_classes() const {
        return live.policy->revocable_classes;
    }
};

}  // namespace reaper

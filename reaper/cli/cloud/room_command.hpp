// What the estimator allows on each host, which the daemon alone knows.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "reaper/cli/channel/daemon_api.hpp"
#include "reaper/planner/oversubscribed_room.hpp"

namespace reaper::cli {

/// `said`: the answer to GET /v1/oversubscription. What is not there, or of another kind, is not
/// known.
EstimatedRoom estimated_room_in(const nlohmann::json& said);

/// Nothing, and nothing is printed, if no room of `snapshot` can be oversubscribed, or the daemon
/// can't be asked.
EstimatedRoom estimated_room(const Snapshot& snapshot, DaemonApi& api);

/// The same of this machine's daemon; an empty `socket`: there is none.
EstimatedRoom local_estimated_room(const Snapshot& snapshot, const std::string& socket,
                                   const Terminal& terminal);

}  // namespace reaper::cli

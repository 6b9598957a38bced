// What the daemon knows now, as values for Prometheus.
#pragma once

#include "reaper/monitoring/daemon_state.hpp"
#include "reaper/monitoring/exposition.hpp"

namespace reaper::monitoring {

/// All but the room of the cloud, which takes longer (room_values.hpp).
void add_daemon(const DaemonState& state, Values& values);

}  // namespace reaper::monitoring

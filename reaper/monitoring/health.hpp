// Is the daemon alive, and could it help? The one place that defines both.
#pragma once

#include <optional>
#include <string>

#include "reaper/api/health.hpp"
#include "reaper/monitoring/daemon_state.hpp"

namespace reaper::monitoring {

/// `state`: none before the service runs. `write_trouble`: why the journal's last write failed;
/// none if it did not.
api::Health health_of(const std::optional<DaemonState>& state,
                      const std::optional<std::string>& write_trouble);

/// What is done every second was done within this time, or the daemon is not alive.
inline constexpr Duration longest_step{60'000};

}  // namespace reaper::monitoring

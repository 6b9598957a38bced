// Is the reaper of this machine paused, for commands that look: by its operator, or by its circuit
// breaker.
#pragma once

#include <optional>
#include <string>

#include "clients/pause/pause_file.hpp"

namespace reaper::cli {

/// The operator's pause, else the breaker's; none: neither.
std::optional<PauseNote> pause_in_force(const std::string& pause_file);

}  // namespace reaper::cli

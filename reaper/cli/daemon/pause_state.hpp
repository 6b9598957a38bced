// Is the reaper of this machine paused, for commands that look: by its operator, or by its circuit
// breaker.
#pragma once

#include <optional>
#include <string>

#include "clients/pause/pause_file.hpp"

namespace reaper::cli {

/// The operator's pause, else the breaker's; none: neither.
std::optional<PauseNote> pause_in_force(const std::string& pause_file);

/// What resuming ended: the operator's pause, what opened the circuit breaker, both or neither.
/// `where`: `on this machine (...)`.
std::string resumed_text(const std::string& where, const std::optional<PauseNote>& paused,
                         const std::optional<PauseNote>& opened);
/// Said where neither was, and the breaker is half open.
extern const char* const half_open_stays;

}  // namespace reaper::cli

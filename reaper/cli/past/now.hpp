// The time of day for commands that look at the past without a running daemon.
#pragma once

#include "reaper/model/time.hpp"

namespace reaper::cli {

inline TimePoint now() {
    return std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now());
}

}  // namespace reaper::cli

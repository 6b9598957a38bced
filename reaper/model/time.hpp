// Time as data: the core never reads a clock, it is told the time.
#pragma once

#include <chrono>

namespace reaper {

/// A moment in UTC, to the millisecond.
using TimePoint = std::chrono::sys_time<std::chrono::milliseconds>;
using Duration = std::chrono::milliseconds;

}  // namespace reaper

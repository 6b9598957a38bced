// Time as data: the core never reads a clock; its caller passes the time.
#pragma once

#include <chrono>

namespace reaper {

/// A point in time in UTC, to the millisecond.
using TimePoint = std::chrono::sys_time<std::chrono::milliseconds>;
using Duration = std::chrono::milliseconds;

}  // namespace reaper

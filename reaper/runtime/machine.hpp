// The machine that we run on.
#pragma once

#include <chrono>
#include <string>

namespace reaper {

/// Its host name, for people; `localhost` if it has none.
std::string machine_name();

/// Processor time of this thread: the difference of two is the cost of the work between them,
/// however busy the machine is.
std::chrono::microseconds thread_cpu_time();

}  // namespace reaper

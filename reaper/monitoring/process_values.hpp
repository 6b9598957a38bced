// The process itself, under the names that Prometheus' clients have in all languages.
#pragma once

#include "reaper/model/time.hpp"
#include "reaper/monitoring/exposition.hpp"

namespace reaper::monitoring {

/// What the system does not report is left out. `started_at`: of the process.
void add_process(TimePoint started_at, Values& values);

}  // namespace reaper::monitoring

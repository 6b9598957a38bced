// What the daemon knows at this moment, for those who only look.
#pragma once

#include <functional>
#include <optional>

#include "reaper/cloud_cache/cloud_cache.hpp"
#include "reaper/decision/policy.hpp"
#include "reaper/rooms/ledger.hpp"

namespace reaper {

/// It changes with everything that happens: look at it without waiting in between.
struct DaemonView {
    const CloudCache& cache;
    const Ledger& ledger;
    const CompiledPolicy& policy;
};

/// None before the cloud was read for the first time.
using ViewDaemon = std::function<std::optional<DaemonView>()>;

}  // namespace reaper

// What the daemon works by, and what SIGHUP may change.
#pragma once

#include <memory>

#include "config/settings.hpp"
#include "reaper/decision/policy.hpp"

namespace reaper {

struct LiveSettings {
    std::shared_ptr<const CompiledPolicy> policy;
    config::Cull cull;
    config::Trigger trigger;
    config::Cache cache;  ///< fixed at the start
    config::Labels labels{};
    bool dry_run = false;  ///< plans are reported, nothing is deleted; fixed at the start
};

}  // namespace reaper

// What the daemon works by, and what SIGHUP may change.
//
// There is one of it, and all users refer to it: a reload changes it at once for all, also for
// requests that are under way. A copy of a part of it (the policy, over a call to the outside) is
// compared with it before anything is written.
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
    config::Gateway gateway{};
    config::Reservations reservations{};
    std::shared_ptr<const OversubscriptionPolicy> oversubscription{};  ///< null: nothing is sold
    bool dry_run = false;  ///< plans are reported, nothing is deleted; fixed at the start
};

}  // namespace reaper

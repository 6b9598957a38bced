// Traits that OpenStack itself sets and that mean the same to every part.
// source: os-traits, compute/status.py
#pragma once

#include "reaper/model/ids.hpp"

namespace reaper {

/// What Nova sets on the provider of a host whose compute service is disabled.
inline const Trait disabled_trait{"COMPUTE_STATUS_DISABLED"};

}  // namespace reaper

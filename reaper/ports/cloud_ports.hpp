// The OpenStack services that the reaper works with, as ports.
#pragma once

#include "reaper/ports/compute.hpp"
#include "reaper/ports/identity.hpp"
#include "reaper/ports/images.hpp"
#include "reaper/ports/placement.hpp"
#include "reaper/runtime/clock.hpp"

namespace reaper {

/// The OpenStack services, as ports. References must outlive their users.
struct CloudPorts {
    Identity& identity;
    Compute& compute;
    Placement& placement;
    Images& images;
    Clock& clock;
};

}  // namespace reaper

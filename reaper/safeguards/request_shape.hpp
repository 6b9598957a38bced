// What room of a request was freed for, as far as it decides where Nova lets it go: requests of one
// project and shape fail or fit alike.
#pragma once

#include <string>

#include "reaper/model/request.hpp"

namespace reaper {

/// Resources and extra specs of the flavor, image, zone, traits, places; not the requester, nor how
/// many slots, nor aggregates: they follow from the rest, and a notification does not contain them.
/// Equal texts, equal shapes.
std::string request_shape(const Request& request);

/// For people: `VCPU=4 MEMORY_MB=8192, image ..., zone ...`.
std::string shape_text(const Request& request);

}  // namespace reaper

// Could a request have its room at all?
#pragma once

#include <cstdint>
#include <vector>

#include "tests/cloudsim/core/world.hpp"

namespace reaper::faults {

/// Were every revocable server gone, would servers of these VCPU find room beside what regular ones
/// hold now?
bool is_possible(const cloudsim::World& world, std::vector<std::int64_t> wanted);

}  // namespace reaper::faults

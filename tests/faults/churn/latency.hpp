// From the API call to ACTIVE where four servers have to go, beside what Nova takes for that by
// itself: a boot where room is free, and four deletions.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "reaper/model/time.hpp"
#include "tests/cloudsim/core/settings.hpp"

namespace reaper::faults {

/// What came, and how long after what came before it; in order, the API call left out.
using Steps = std::vector<std::pair<std::string, Duration>>;

/// With a cull of four; empty: it was not served.
Steps latency_of_a_cull(std::uint64_t seed, const cloudsim::Delays& delays);

struct OwnLatency {
    Duration boot{};       ///< where room is free, by the way of Placement itself
    Duration deletions{};  ///< of four servers at once, until their room is free
};
OwnLatency own_latency(std::uint64_t seed, const cloudsim::Delays& delays);

}  // namespace reaper::faults

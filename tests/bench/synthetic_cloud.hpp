// Seeded synthetic clouds for the planner's figures: hosts that are nearly full, with so many
// revocable servers each.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "reaper/model/cloud.hpp"
#include "reaper/model/request.hpp"

namespace reaper::bench {

enum class Sizes { flavors, random };

struct CloudSpec {
    int hosts = 100;
    int servers = 10;  ///< revocable, on each host
    Sizes sizes = Sizes::flavors;
    std::uint64_t seed = 1;
    int regular = servers / 2;  ///< on each host, too
};

/// The time of the snapshot.
TimePoint now();

Snapshot synthetic_cloud(const CloudSpec& spec);

/// A request for `slots` servers of the `i`th of some flavors.
Request request_for(int i, int slots);

}  // namespace reaper::bench

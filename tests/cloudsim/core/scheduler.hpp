// Nova's scheduler: Placement's candidates, filters, weights, claims. All servers of a request find
// a host, or none does.
#pragma once

#include <variant>
#include <vector>

#include "tests/cloudsim/core/candidates.hpp"
#include "tests/cloudsim/core/world.hpp"

namespace reaper::cloudsim {

struct NoValidHost {
    bool had_candidates = false;  ///< filters or claims failed, not Placement
};

/// One host for each server of the request, in order; their room is claimed.
using Selection = std::variant<std::vector<Host*>, NoValidHost>;

/// Tells `scheduler.select_destinations.start` and `.end`, the former only if Placement had
/// candidates, as Nova does.
Selection select_destinations(World& world, const Placing& placing, const ContextPtr& by);

/// The query that Nova would send to Placement.
CandidateQuery query_for(World& world, const Placing& placing);

}  // namespace reaper::cloudsim

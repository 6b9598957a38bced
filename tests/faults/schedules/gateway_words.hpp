// What nova-scheduler writes to Placement, and reads of its answers.
#pragma once

#include <optional>
#include <string>

#include "tests/cloudsim/core/scheduler.hpp"

namespace reaper::faults {

/// As Nova writes it.
std::string search_target(const cloudsim::Names& names, const cloudsim::CandidateQuery& query);
/// None: it is broken.
std::optional<cloudsim::Candidates> candidates_in(cloudsim::World& world, const std::string& body);
std::string claim_body(cloudsim::World& world, const cloudsim::Claim& claim);

}  // namespace reaper::faults

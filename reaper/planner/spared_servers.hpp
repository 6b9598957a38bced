// The neighbours of victims: revocable servers of the same host that stay, each with the reason.
// It answers users who ask why it was their server. Bounded: the journal keeps it.
#pragma once

#include <cstddef>

#include "reaper/model/plan.hpp"
#include "reaper/planner/filter.hpp"
#include "reaper/planner/minimal.hpp"

namespace reaper {

/// Neighbours that are listed in full, of one host and of a whole plan.
constexpr std::size_t max_spared_of_host = 8;
constexpr std::size_t max_spared_of_plan = 64;

/// Counts those of a host, and lists the first ones: those that might have gone, then the others,
/// each by id. At most `left` of them. What comes free already is no neighbour. `host` is the index
/// of the plan's host in the problem.
void add_spared(HostPlan& plan, const Problem& problem, std::size_t host, const OnHost& chosen,
                const Strategy& strategy, const FilterInput& input, std::size_t left);

}  // namespace reaper

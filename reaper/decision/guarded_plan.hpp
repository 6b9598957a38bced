// A plan under the safeguards: what they forbid is not chosen, what they advise against only where
// nothing else is enough.
//
// Hard safeguards are never passed: protected servers, the minimum run time, budgets of victims.
// Soft ones give way, in this order, when nothing else frees the requested slots, and the plan says
// so:
//   1. thrash: workloads that keep being evicted and coming back are kept while they are young;
//   2. cooldown: hosts whose freed room was not taken, or where deletions hang, are left out.
// The cooldown is the last to give way: a cull there most likely goes unused, while one more
// eviction of the same workload at least serves its requester.
#pragma once

#include <string_view>

#include "reaper/planner/planner.hpp"
#include "reaper/safeguards/safeguards.hpp"

namespace reaper {

/// Decides as `make_plan` does, under the safeguards; `options` without those (protection is the
/// settings', victim filter, cooldowns and budgets are made here). `options.now` must be given.
/// A plan that deletes servers for whom none are deleted now (breakers, cooldown of a shape) is a
/// NotEnough, too. What counts no more by then is forgotten. A NotEnough that would be a plan
/// without the safeguards names the one that prevented it.
Decision plan_under(Safeguards& safeguards, const Request& request, const CloudIndex& cloud,
                    const Ledger& ledger, const Strategy& strategy, std::string_view strategy_name,
                    PlanOptions options);

/// The same for a correction (reaper/planner/correction_plan.hpp). Soft safeguards have no say:
/// another server in the place of one that is to go would not do.
Decision correction_under(Safeguards& safeguards, const Request& request, const CloudIndex& cloud,
                          const Ledger& ledger, PlanOptions options);

}  // namespace reaper

// Reasons: every host and victim of a decision in the words and units of the request.
#pragma once

#include <string>
#include <vector>

#include "reaper/model/plan.hpp"
#include "reaper/planner/budgets.hpp"
#include "reaper/planner/minimal.hpp"
#include "strategies/strategy.hpp"

namespace reaper {

/// Why no plan is needed, with hosts that have `requested` slots together.
NothingToDo room_is_there(const Problem& problem, Amount requested);

/// One host of a plan, each victim with its reason.
HostPlan explain_host(const Problem& problem, std::size_t host, const OnHost& chosen,
                      const Selection& selection);

/// A host that gives slots, but all hosts together too few.
Rejection too_few_slots(const HostOption& option, Amount requested);

/// A host that gives slots, but not within the limits.
Rejection over_limit(const HostOption& option);

/// Why no choice within the budgets frees the slots; `groups` stand in its way, the worst first.
std::string why_over_limit(const BudgetCounter& usage, const std::vector<BudgetGroup>& groups,
                           Amount requested, bool proven);

/// Why all revocable servers together are not enough, or (`not_all`) those that may be deleted:
/// `hosts` give slots, `refused` lists the others.
std::string why_not_enough(std::size_t hosts, const std::vector<RejectionCount>& refused,
                           Amount requested, Amount possible, bool not_all);

}  // namespace reaper

// Cheapest: the slots that cost least over all hosts, under an objective.
//
// A host's victims are found anew for each number of slots (slots on one host share victims and
// room), so its costs are not convex; over hosts this is a multiple-choice knapsack (shares.hpp).
// Of N slots that are not there yet, only the N - s + 1 cheapest hosts can matter for s slots on
// one host: any other could be exchanged for one of these that is not in use, as the other hosts in
// use are at most N - s. The knapsack is first solved with lower bounds instead of costs
// (offers.hpp); the hosts in its solution are searched, and it is solved again with what was found,
// until all hosts in the solution had been searched: as no other way costs less even by its bounds,
// it is the best. So hosts are searched only where the best might be.
//
// Exact, unless the steps run out: then the best found, and the note tells the gap to the bound,
// which the last knapsack is. More than `most_exact_slots` slots are shared out one after the other
// instead (stepwise.hpp), again with a bound. Ties: the victims' places in the tie rule's order,
// then host name, then id.
#pragma once

#include <cstddef>
#include <cstdint>

#include "strategies/objective.hpp"

namespace reaper {

/// What one plan may cost at most; 0 is no limit.
struct CostBudget {
    Amount victims = 0;
    Amount lost_work = 0;  ///< in the objective's minutes of size
};

/// `max_steps`: visited nodes of one host's search at most; a whole selection has 20 times as many.
/// As many of the slots as the budget allows, at least `problem.slots_least`; else none, and the
/// note says so.
Selection cheapest(const Problem& problem, const Objective& objective, std::int64_t max_steps,
                   const CostBudget& budget = {});

/// Fills the problem's tables as `cheapest` would: searches at most `hosts` hosts that were not
/// known, and returns how many it searched.
std::size_t warm_cheapest(const Problem& problem, const Objective& objective,
                          std::int64_t max_steps, std::size_t hosts);

}  // namespace reaper

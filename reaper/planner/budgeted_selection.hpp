// A choice of victims that stays inside the budgets.
//
// First the strategy's own choice. If that takes too many: fewer alternatives, then none of them;
// then victims *priced* by the budgets that stand in the way: the same solver minimises the sum
// of the prices first, and the strategy's objective among equals (Lagrangian relaxation; Fisher,
// "The Lagrangian Relaxation Method for Solving Integer Programming Problems", 1981). With prices w
// no choice inside the budgets costs more than sum(w * left): where even the cheapest does,
// there is none, and that is proven. So it is exact where one budget alone stands in the way,
// above all the number of victims; with several at once a way may be missed, and the answer says
// so. Bounded: each step is one selection of the solver.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reaper/planner/budgets.hpp"
#include "reaper/planner/minimal.hpp"
#include "strategies/strategy.hpp"

namespace reaper {

/// What a strategy chose, without what is needless.
struct Choice {
    Selection selection;
    Chosen chosen;
    Amount freed = 0;
};

/// Asks the strategy and checks its answer: std::logic_error if it is broken. At most
/// `problem.slots` slots of it count.
Choice choose(const Problem& problem, const Strategy& strategy);

/// The victims of a choice against the budgets.
BudgetCounter usage_of(const Problem& problem, const Chosen& chosen, const Budgets& budgets);

/// A choice outside of the budgets, and how it exceeds them.
struct Excess {
    Choice choice;                  ///< the one that comes nearest
    std::vector<BudgetGroup> over;  ///< the worst first; never empty
    bool proven = false;            ///< there is no choice inside them
};

struct BudgetedSelection {
    std::optional<Choice> choice;  ///< inside the budgets
    std::optional<Excess> excess;  ///< else
    std::string note;              ///< what had to be given up; or empty
};

/// `first`: the strategy's own choice for `problem`.
BudgetedSelection choose_in_budgets(const Problem& problem, const Strategy& strategy,
                                    const Budgets& budgets, Choice first);

}  // namespace reaper

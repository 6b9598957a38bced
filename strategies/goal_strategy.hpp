// A strategy that is a goal over the solver: all but dice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "strategies/objective.hpp"
#include "strategies/strategy.hpp"

namespace reaper {

// Cheapest: the slots that cost least over all hosts, under an objective.
//
// A host's victims are found again for each number of slots (slots on one host share victims and
// room), so its costs are not convex. One slot: hosts are searched in the order of their bounds
// (offers.hpp), until the first had been searched. Several: how they are shared out over the hosts
// is a knapsack (shares.hpp).
//
// Exact, unless the steps run out: then the best found, and the note shows the gap to the bound.
// Ties: the victims' places in the tie rule's order, then host name, then id.

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

class GoalStrategy final : public Strategy {
public:
    GoalStrategy(Goal goal, std::int64_t max_steps, CostBudget budget = {})
        : goal_{std::move(goal)}, max_steps_{max_steps}, budget_{budget} {}

    Selection select(const Problem& problem) const override {
        return cheapest(problem, objective_for(goal_, problem), max_steps_, budget_);
    }
    std::size_t warm(const Problem& problem, std::size_t hosts) const override {
        if (goal_.counts_shares()) return 0;
        return warm_cheapest(problem, objective_for(goal_, problem), max_steps_, hosts);
    }
    std::optional<std::map<ProjectId, Amount>> shares(const WholeCloud& cloud) const override;
    std::optional<Cost> cost_on(const Problem& problem, std::size_t host, Amount slots,
                                const std::vector<std::size_t>& victims) const override;
    std::vector<std::pair<std::size_t, Cost>> cheapest_hosts(const Problem& problem, Amount slots,
                                                             std::size_t count) const override;
    std::string why_not_instead(const Problem& problem, const Rivals& rivals) const override;
    const Goal& goal() const { return goal_; }
    std::int64_t max_steps() const { return max_steps_; }
    const CostBudget& budget() const { return budget_; }

private:
    Goal goal_;
    std::int64_t max_steps_;
    CostBudget budget_;
};

}  // namespace reaper

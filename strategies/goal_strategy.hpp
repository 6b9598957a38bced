// A strategy that is a goal over the solver: all but dice.
#pragma once

#include <cstdint>
#include <utility>

#include "strategies/cheapest.hpp"
#include "strategies/objective.hpp"
#include "strategies/strategy.hpp"

namespace reaper {

class GoalStrategy final : public Strategy {
public:
    GoalStrategy(Goal goal, std::int64_t max_steps, CostBudget budget = {})
        : goal_{std::move(goal)}, max_steps_{max_steps}, budget_{budget} {}

    Selection select(const Problem& problem) const override {
        return cheapest(problem, objective_for(goal_, problem), max_steps_, budget_);
    }
    std::size_t warm(const Problem& problem, std::size_t hosts) const override {
        return warm_cheapest(problem, objective_for(goal_, problem), max_steps_, hosts);
    }
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

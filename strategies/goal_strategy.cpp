#include "strategies/goal_strategy.hpp"

namespace reaper {
namespace {

Cost cost_of(const Objective& objective, const Problem& problem, const HostOption& option,
             Amount slots, const std::vector<std::size_t>& victims) {
    Cost cost = objective.base(problem.shape, option.room, slots);
    ByPool room = option.room.room_now();
    for (const std::size_t victim : victims) {
        const Candidate& candidate = option.candidates.at(victim);
        cost += objective.of(option.room, candidate);
        cost -= objective.filled_up(option.room, room, candidate);
        for (std::size_t pool = 0; pool < room.size(); ++pool) room[pool] += candidate.gains[pool];
    }
    return cost;
}

std::string tie_words(Tie tie) {
    const std::string first = tie == Tie::newest   ? "the newest go first, then "
                              : tie == Tie::oldest ? "the oldest go first, then "
                                                   : "";
    return "as good otherwise; among equals " + first + "the ids decide";
}

}  // namespace

std::string GoalStrategy::why_not_instead(const Problem& problem, const Rivals& rivals) const {
    const Objective objective = objective_for(goal_, problem);
    const HostOption& option = problem.hosts[rivals.host];
    const Cost ours = cost_of(objective, problem, option, rivals.slots, rivals.victims);
    const Cost theirs = cost_of(objective, problem, option, rivals.slots, rivals.instead);
    for (std::size_t level = 0; level < objective.levels.size(); ++level) {
        if (theirs[level] == ours[level]) continue;
        // A search that was cut short, or a limit, has its own reasons.
        if (theirs[level] < ours[level]) return {};
        const Objective::Term& term = objective.levels[level].front();
        const Measure first = term.measure;
        if (first == Measure::price) return {};
        if (first == Measure::unasked) {
            const auto held = [&](const Cost& cost) {
                return goal_.waste_order[term.need].str() + "=" + std::to_string(cost[level]);
            };
            if (objective.levels[level].size() > 1) break;
            return "as good otherwise, but more unneeded resources go: " + held(theirs) +
                   " against " + held(ours);
        }
        if (level > objective.victims_level && (first == Measure::age || first == Measure::start))
            break;  // of ties
        const auto words = [&](const Cost& cost) {
            return objective.level_words(problem.shape, level, cost[level],
                                         cost[objective.victims_level]);
        };
        return words(theirs) + " against " + words(ours);
    }
    return tie_words(goal_.tie);
}

}  // namespace reaper

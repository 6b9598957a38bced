// cost: the operator's own measure of harm, lexicographic over levels, weighted within a level.
#include <limits>
#include <utility>

#include "strategies/builtin.hpp"
#include "strategies/cost_names.hpp"
#include "strategies/goal_strategy.hpp"
#include "strategies/goal_text.hpp"
#include "strategies/leftover_parameters.hpp"

namespace reaper {
namespace {

using Texts = std::vector<std::string>;

constexpr std::size_t max_levels_given = 6;
constexpr std::int64_t largest_budget = 1'000'000'000;

std::optional<ParameterError> read_levels(const Parameters& parameters, Goal& goal) {
    const auto& levels = std::get<Texts>(parameters.at("objective"));
    if (levels.empty() || levels.size() > max_levels_given)
        return ParameterError{"objective", "a list of 1 to 6 levels"};
    for (const auto& text : levels) {
        auto level = level_of(text);
        if (const auto* wrong = std::get_if<std::string>(&level))
            return ParameterError{
                "objective",
                "levels like \"lost_work + 60 victims\", of victims, lost_work, "
                "waste, waste:CLASS, priority, restarts, share, age and start; but " +
                    *wrong};
        goal.levels.push_back(std::get<std::vector<Goal::Term>>(std::move(level)));
    }
    return std::nullopt;
}

std::optional<ParameterError> read_priorities(const Parameters& parameters, Goal& goal) {
    for (const auto& text : std::get<Texts>(parameters.at("priorities"))) {
        auto read = priority_of(text);
        if (const auto* wrong = std::get_if<std::string>(&read))
            return ParameterError{"priorities",
                                  "projects and flavors as name=number; but " + *wrong};
        auto& [name, value] = std::get<0>(read);
        if (!goal.priorities.emplace(name, value).second)
            return ParameterError{"priorities", "each name once"};
    }
    goal.standard_priority = std::get<std::int64_t>(parameters.at("standard_priority"));
    if (goal.standard_priority < 0 || goal.standard_priority > largest_weight)
        return ParameterError{"standard_priority", "a number from 0 to 1000000"};
    return std::nullopt;
}

std::optional<ParameterError> read_rest(const Parameters& parameters, Goal& goal) {
    auto order = class_names(std::get<Texts>(parameters.at("waste_order")));
    if (!order)
        return ParameterError{"waste_order",
                              "names of resource classes (MEMORY_MB, CUSTOM_...), each once"};
    goal.waste_order = std::move(*order);
    const auto& work_class = std::get<std::string>(parameters.at("work_class"));
    if (work_class != all_cpu_classes) {
        auto work = class_names({work_class});
        if (!work) return ParameterError{"work_class", "CPU or the name of a resource class"};
        goal.work_classes = std::move(*work);
    }
    goal.restarts_key = std::get<std::string>(parameters.at("restarts_key"));
    const auto& ties = std::get<std::string>(parameters.at("ties"));
    if (ties != "newest" && ties != "oldest" && ties != "id")
        return ParameterError{"ties", "newest, oldest or id"};
    goal.tie = ties == "newest" ? Tie::newest : ties == "oldest" ? Tie::oldest : Tie::id;
    return std::nullopt;
}

std::optional<ParameterError> read_budget(const Parameters& parameters, CostBudget& budget) {
    budget.victims = std::get<std::int64_t>(parameters.at("max_victims"));
    budget.lost_work = std::get<std::int64_t>(parameters.at("max_lost_work"));
    if (budget.victims < 0 || budget.victims > largest_budget)
        return ParameterError{"max_victims", "a number from 0 (no limit) to 1000000000"};
    if (budget.lost_work < 0 || budget.lost_work > largest_budget)
        return ParameterError{"max_lost_work", "a number from 0 (no limit) to 1000000000"};
    budget.lost_work *= 60;  // hours to minutes
    return std::nullopt;
}

std::variant<std::unique_ptr<Strategy>, ParameterError> make_cost(const Parameters& parameters) {
    Goal goal;
    CostBudget budget;
    for (auto read : {read_levels, read_priorities, read_rest})
        if (auto wrong = read(parameters, goal)) return std::move(*wrong);
    if (auto wrong = read_budget(parameters, budget)) return std::move(*wrong);
    const auto steps = max_steps_of(parameters);
    if (const auto* wrong = std::get_if<ParameterError>(&steps)) return *wrong;
    return std::make_unique<GoalStrategy>(std::move(goal), std::get<std::int64_t>(steps), budget);
}

std::vector<ParameterSpec> cost_specs() {
    return {
        {"objective", ParameterKind::text_list,
         Texts{"priority", "lost_work + 60 victims", "waste"},
         "levels, the first difference decides; each a sum like \"lost_work + 60 victims\" of: "
         "victims (their number), lost_work (size times running time, in minutes; none of a "
         "stopped "
         "server), waste:CLASS "
         "(free + victims - requested, in units of the class), waste (alone: a level for each "
         "class), priority, restarts, share (of its project's revocable servers that a victim is, "
         "in millionths: spreads the harm over projects), age (minutes since creation), start "
         "(minutes "
         "UTC: the oldest first)"},
        {"waste_order", ParameterKind::text_list, Texts{"MEMORY_MB", "VCPU", "DISK_GB"},
         "resource classes whose waste counts first, second, ...; the request's other classes "
         "follow by name"},
        {"work_class", ParameterKind::text, std::string{all_cpu_classes},
         "the resource class that lost work is measured in; CPU is VCPU and PCPU together"},
        {"priorities", ParameterKind::text_list, Texts{},
         "what one server of a project (by id, name or DOMAIN/NAME) or flavor (by name) is worth, "
         "as "
         "name=number, 0 to 1000000; the larger of both counts"},
        {"standard_priority", ParameterKind::integer, std::int64_t{0},
         "what any other server is worth, 0 to 1000000"},
        {"restarts_key", ParameterKind::text, std::string{"reaper:restarts"},
         "the key of the server metadata that tells how often it was taken already"},
        {"ties", ParameterKind::text, std::string{"newest"},
         "which of equally good ways goes: newest (the least sum of the victims' ages), oldest "
         "(the "
         "least sum of their creation times) or id"},
        {"max_victims", ParameterKind::integer, std::int64_t{0},
         "budget: servers that one plan may take; 0 is no limit. Alternatives are given up first; "
         "if the requested slots cost more, no servers deleted"},
        {"max_lost_work", ParameterKind::integer, std::int64_t{0},
         "budget: lost work of one plan, in hours times units of work_class; 0 is no limit"},
        max_steps_spec(),
    };
}

}  // namespace

StrategyInfo cost_strategy() {
    return {"cost",
            "takes the servers that do the least harm, as the objective measures it: lost work, "
            "interruptions, waste, priorities, ...; exact over all hosts together",
            cost_specs(),
            make_cost,
            names_of_cost,
            cost_with_project_ids};
}

}  // namespace reaper

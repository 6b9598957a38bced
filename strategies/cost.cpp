// cost: the operator's own measure of harm, lexicographic over levels, weighted within a level.
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reaper/model/parameters.hpp"
#include "strategies/goal_strategy.hpp"
#include "strategies/leftover_parameters.hpp"
#include "strategies/objective.hpp"
#include "strategies/strategy_table.hpp"

namespace reaper {
namespace {

/// Instead of the name of a class: all those in which processors are counted.
constexpr std::string_view all_cpu_classes = "CPU";

using Texts = std::vector<std::string>;

/// The classes of an objective, as in `waste:MEMORY_MB`.
std::set<std::string> classes_of(const Texts& levels) {
    std::set<std::string> classes;
    for (const auto& text : levels) {
        const auto level = level_of(text);
        const auto* const terms = std::get_if<std::vector<Goal::Term>>(&level);
        if (terms == nullptr) continue;
        for (const auto& term : *terms)
            if (term.resource_class) classes.insert(term.resource_class->str());
    }
    return classes;
}

std::vector<NamedThing> names_of_cost(const Parameters& parameters) {
    using Kind = NamedThing::Kind;
    std::vector<NamedThing> names;
    for (const auto& name : classes_of(std::get<Texts>(parameters.at("objective"))))
        names.push_back({Kind::resource_class, "objective", name});
    for (const auto& name : std::get<Texts>(parameters.at("waste_order")))
        names.push_back({Kind::resource_class, "waste_order", name});
    const auto& work_class = std::get<std::string>(parameters.at("work_class"));
    if (work_class != all_cpu_classes)
        names.push_back({Kind::resource_class, "work_class", work_class});
    for (const char* const list : {"priorities", "weights"})
        for (const auto& text : std::get<Texts>(parameters.at(list))) {
            const auto valued = value_of(text);
            if (const auto* const read = std::get_if<0>(&valued))
                names.push_back({Kind::project_or_flavor, list, read->first});
        }
    return names;
}

/// Values of projects by their ids, whatever they are called by. A flavor of the same name keeps
/// its value; where a project is named twice, the larger counts.
void put_project_ids(Texts& written, const ProjectIds& ids) {
    std::map<std::string, Amount> values;
    for (const auto& text : written) {
        const auto valued = value_of(text);
        const auto* const read = std::get_if<0>(&valued);
        if (read == nullptr) return;  // it was refused
        values[read->first] = std::max(values[read->first], read->second);
        const auto id = ids.find(read->first);
        if (id != ids.end()) values[id->second] = std::max(values[id->second], read->second);
    }
    written.clear();
    for (const auto& [name, value] : values) written.push_back(name + "=" + std::to_string(value));
}

Parameters cost_with_project_ids(Parameters parameters, const ProjectIds& ids) {
    for (const char* const list : {"priorities", "weights"})
        put_project_ids(std::get<Texts>(parameters.at(list)), ids);
    return parameters;
}

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
                "waste, waste:CLASS, priority, fair_share, bid, restarts, share, notice, age and "
                "start; but " +
                    *wrong};
        goal.levels.push_back(std::get<std::vector<Goal::Term>>(std::move(level)));
    }
    return std::nullopt;
}

using Values = std::map<std::string, Amount, std::less<>>;

std::optional<ParameterError> read_values(const Parameters& parameters, const char* list,
                                          const std::string& of, Values& values) {
    for (const auto& text : std::get<Texts>(parameters.at(list))) {
        auto read = value_of(text);
        if (const auto* wrong = std::get_if<std::string>(&read))
            return ParameterError{list, of + " as name=number; but " + *wrong};
        auto& [name, value] = std::get<0>(read);
        if (!values.emplace(name, value).second) return ParameterError{list, "each name once"};
    }
    return std::nullopt;
}

std::optional<ParameterError> read_weights(const Parameters& parameters, Goal& goal) {
    if (auto wrong = read_values(parameters, "weights", "projects", goal.weights)) return wrong;
    for (const auto& [name, weight] : goal.weights)
        if (weight < 1) return ParameterError{"weights", "numbers from 1 to 1000000"};
    return std::nullopt;
}

std::optional<ParameterError> read_priorities(const Parameters& parameters, Goal& goal) {
    if (auto wrong = read_values(parameters, "priorities", "projects and flavors", goal.priorities))
        return wrong;
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
    goal.bid_key = std::get<std::string>(parameters.at("bid_key"));
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
    for (auto read : {read_levels, read_priorities, read_weights, read_rest})
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
         "stopped server), waste:CLASS (free + victims - requested, in units of the class), waste "
         "(alone: a level for each class), priority, fair_share (by how much its project's share "
         "of "
         "the cloud is below the largest at its turn, in millionths), bid (the lowest goes first, "
         "in millionths), restarts, share (of its project's revocable servers that a victim is, in "
         "millionths: spreads the harm over projects), notice (seconds), age (minutes since "
         "creation), start (minutes UTC: the oldest first)"},
        {"waste_order", ParameterKind::text_list, Texts{"MEMORY_MB", "VCPU", "DISK_GB"},
         "resource classes whose waste counts first, second, ...; the request's other classes "
         "follow by name"},
        {"work_class", ParameterKind::text, std::string{all_cpu_classes},
         "the resource class that lost work is measured in; CPU is VCPU and PCPU together"},
        {"priorities", ParameterKind::text_list, Texts{},
         "what one server of a project (by id, name or DOMAIN/NAME) or flavor (by name) is worth, "
         "as name=number, 0 to 1000000; the larger of both counts"},
        {"standard_priority", ParameterKind::integer, std::int64_t{0},
         "what any other server is worth, 0 to 1000000"},
        {"weights", ParameterKind::text_list, Texts{},
         "by what fair_share divides a project's share of the cloud, as project=number, 1 to "
         "1000000; all others have 1"},
        {"bid_key", ParameterKind::text, std::string{"reaper:bid"},
         "the property of the flavor, or else the key of the server metadata, that says what the "
         "owner pays (0.031)"},
        {"restarts_key", ParameterKind::text, std::string{"reaper:restarts"},
         "the key of the server metadata that counts how often it was evicted already"},
        {"ties", ParameterKind::text, std::string{"newest"},
         "which of equally good ways goes: newest (the least sum of the victims' ages), oldest "
         "(the least sum of their creation times) or id"},
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

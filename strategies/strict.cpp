// strict: the servers that leave the least unused. Aardvark's strategy of that name, exact.

#include "strategies/goal_strategy.hpp"
#include "strategies/leftover_parameters.hpp"
#include "strategies/strategy_table.hpp"

namespace reaper {
namespace {

std::variant<std::unique_ptr<Strategy>, ParameterError> make_strict(const Parameters& parameters) {
    auto read = leftover_parameters(parameters);
    if (auto* wrong = std::get_if<ParameterError>(&read)) return std::move(*wrong);
    auto& leftover = std::get<LeftoverParameters>(read);
    return std::make_unique<GoalStrategy>(leftover_goal(std::move(leftover.order), Tie::id),
                                          leftover.max_steps);
}

}  // namespace

StrategyInfo strict_strategy() {
    return {"strict",
            "takes the servers that leave the least room unused (free + victims - requested); then "
            "the fewest; then those with less of what is not requested; then by id",
            leftover_parameter_specs(), make_strict, leftover_names};
}

// strict_time: as strict, but among equally good servers the newest (or oldest) go first.

namespace {

std::variant<std::unique_ptr<Strategy>, ParameterError> make_strict_time(
    const Parameters& parameters) {
    auto read = leftover_parameters(parameters);
    if (auto* wrong = std::get_if<ParameterError>(&read)) return std::move(*wrong);
    const auto& order = std::get<std::string>(parameters.at("order"));
    if (order != "newest" && order != "oldest") return ParameterError{"order", "newest or oldest"};
    auto& leftover = std::get<LeftoverParameters>(read);
    return std::make_unique<GoalStrategy>(
        leftover_goal(std::move(leftover.order), order == "newest" ? Tie::newest : Tie::oldest),
        leftover.max_steps);
}

std::vector<ParameterSpec> strict_time_specs() {
    auto all = leftover_parameter_specs();
    all.push_back({"order", ParameterKind::text, std::string{"newest"},
                   "which of equally good ways: newest is the least sum of ages, oldest that of "
                   "creation times"});
    return all;
}

}  // namespace

StrategyInfo strict_time_strategy() {
    return {
        "strict_time",
        "as strict, but among equally good ways the one with the least sum of ages (or of starts)",
        strict_time_specs(), make_strict_time, leftover_names};
}

}  // namespace reaper

// strict: the servers that leave the least unused. Aardvark's strategy of that name, exact.
#include "strategies/builtin.hpp"
#include "strategies/goal_strategy.hpp"
#include "strategies/leftover_parameters.hpp"

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

}  // namespace reaper

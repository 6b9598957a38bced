// strict: the servers that leave the least unused. Aardvark's strategy of that name, exact.
#include "strategies/builtin.hpp"
#include "strategies/cheapest.hpp"
#include "strategies/leftover_parameters.hpp"

namespace reaper {
namespace {

class Strict : public Strategy {
public:
    explicit Strict(LeftoverParameters parameters) : parameters_{std::move(parameters)} {}

    Selection select(const Problem& problem) const override {
        const Order order = leftover_order(problem.shape, parameters_.order, Order::Tie::id);
        return cheapest(problem, order, parameters_.max_steps);
    }

private:
    LeftoverParameters parameters_;
};

std::variant<std::unique_ptr<Strategy>, ParameterError> make(const Parameters& parameters) {
    auto read = leftover_parameters(parameters);
    if (auto* wrong = std::get_if<ParameterError>(&read)) return std::move(*wrong);
    return std::make_unique<Strict>(std::move(std::get<LeftoverParameters>(read)));
}

}  // namespace

StrategyInfo strict_strategy() {
    return {"strict",
            "takes the servers that leave the least room unused (free + victims - requested); then "
            "the fewest; then by id",
            leftover_parameter_specs(), make};
}

}  // namespace reaper

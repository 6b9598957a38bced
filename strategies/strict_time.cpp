// strict_time: as strict, but among equally good servers the newest (or oldest) go first.
#include "strategies/builtin.hpp"
#include "strategies/cheapest.hpp"
#include "strategies/leftover_parameters.hpp"

namespace reaper {
namespace {

class StrictTime : public Strategy {
public:
    StrictTime(LeftoverParameters parameters, Order::Tie tie)
        : parameters_{std::move(parameters)}, tie_{tie} {}

    Selection select(const Problem& problem) const override {
        const Order order = leftover_order(problem.shape, parameters_.order, tie_);
        return cheapest(problem, order, parameters_.max_steps);
    }

private:
    LeftoverParameters parameters_;
    Order::Tie tie_;
};

std::variant<std::unique_ptr<Strategy>, ParameterError> make(const Parameters& parameters) {
    auto read = leftover_parameters(parameters);
    if (auto* wrong = std::get_if<ParameterError>(&read)) return std::move(*wrong);
    const auto& order = std::get<std::string>(parameters.at("order"));
    if (order != "newest" && order != "oldest") return ParameterError{"order", "newest or oldest"};
    return std::make_unique<StrictTime>(
        std::move(std::get<LeftoverParameters>(read)),
        order == "newest" ? Order::Tie::newest : Order::Tie::oldest);
}

std::vector<ParameterSpec> specs() {
    auto all = leftover_parameter_specs();
    all.push_back({"order", ParameterKind::text, std::string{"newest"},
                   "whose servers go first among equally good ones: newest or oldest, by creation "
                   "time"});
    return all;
}

}  // namespace

StrategyInfo strict_time_strategy() {
    return {"strict_time",
            "as strict, but among equally good servers those created last (or first) go", specs(),
            make};
}

}  // namespace reaper

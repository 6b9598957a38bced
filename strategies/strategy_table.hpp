// The table of strategies: feeds construction, config errors, `reaper strategies` and the docs.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "reaper/model/parameters.hpp"
#include "strategies/strategy.hpp"

namespace reaper {

struct StrategyInfo {
    std::string_view name;
    std::string_view help;  ///< one sentence
    std::vector<ParameterSpec> parameters;
    /// `parameters` are complete and of the right kinds (see with_standards, check_parameters).
    std::function<std::variant<std::unique_ptr<Strategy>, ParameterError>(
        const Parameters& parameters)>
        make;
    /// What of the cloud they name; null: nothing.
    std::function<std::vector<NamedThing>(const Parameters& parameters)> names{};
    /// The parameters with the ids of the projects that they name; null: they name none.
    std::function<Parameters(Parameters parameters, const ProjectIds& ids)> with_project_ids{};
    std::string module{};  ///< which one brings it, with its version; empty: it is built in
};

/// Entries stay where they are.
const std::deque<StrategyInfo>& strategy_table();
/// Of a module (reaper/modules); its name must be new.
void add_strategy(StrategyInfo info);

/// None for an unknown name.
const StrategyInfo* find_strategy(std::string_view name);

// Built in.

StrategyInfo chance_strategy();
StrategyInfo cost_strategy();
StrategyInfo strict_strategy();
StrategyInfo strict_time_strategy();

}  // namespace reaper

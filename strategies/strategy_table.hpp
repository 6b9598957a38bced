// The table of strategies: feeds construction, config errors, `reaper strategies` and the docs.
#pragma once

#include <memory>
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
    std::variant<std::unique_ptr<Strategy>, ParameterError> (*make)(const Parameters& parameters);
    /// What of the cloud they name; null: nothing.
    std::vector<NamedThing> (*names)(const Parameters& parameters) = nullptr;
    /// The parameters with the ids of the projects that they name; null: they name none.
    Parameters (*with_project_ids)(Parameters parameters, const ProjectIds& ids) = nullptr;
};

const std::vector<StrategyInfo>& strategy_table();

/// None for an unknown name.
const StrategyInfo* find_strategy(std::string_view name);

}  // namespace reaper

// The table of estimators: feeds construction, config errors, `reaper estimators` and the docs.
#pragma once

#include <memory>
#include <string_view>
#include <variant>
#include <vector>

#include "reaper/model/parameters.hpp"
#include "reaper/oversubscription/estimator.hpp"

namespace reaper {

struct EstimatorInfo {
    std::string_view name;
    std::string_view help;  ///< one sentence
    std::vector<ParameterSpec> parameters;
    /// `parameters` are complete and of the right kinds (see with_standards, check_parameters).
    std::variant<std::unique_ptr<Estimator>, ParameterError> (*make)(const Parameters& parameters);
};

const std::vector<EstimatorInfo>& estimator_table();

/// None for an unknown name.
const EstimatorInfo* find_estimator(std::string_view name);

}  // namespace reaper

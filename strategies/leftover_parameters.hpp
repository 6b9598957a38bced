// Parameters that the strategies which minimise leftovers share.
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "reaper/model/resources.hpp"
#include "reaper/plugin/parameters.hpp"

namespace reaper {

struct LeftoverParameters {
    std::vector<ResourceClass> order;
    std::int64_t max_steps = 0;
};

std::vector<ParameterSpec> leftover_parameter_specs();

/// From complete parameters of the right kinds.
std::variant<LeftoverParameters, ParameterError> leftover_parameters(const Parameters& parameters);

}  // namespace reaper

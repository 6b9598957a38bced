// Parameters that the strategies which minimise leftovers share.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "reaper/model/parameters.hpp"
#include "reaper/model/resources.hpp"
#include "strategies/objective.hpp"

namespace reaper {

struct LeftoverParameters {
    std::vector<ResourceClass> order;
    std::int64_t max_steps = 0;
};

/// What is left unused, class by class; then the number of victims.
Goal leftover_goal(std::vector<ResourceClass> order, Tie tie);

/// Each a class's name, none twice; nothing if one is not.
std::optional<std::vector<ResourceClass>> class_names(const std::vector<std::string>& names);

/// Of the search on one host.
ParameterSpec max_steps_spec();
std::variant<std::int64_t, ParameterError> max_steps_of(const Parameters& parameters);

std::vector<ParameterSpec> leftover_parameter_specs();

/// What of the cloud they name.
std::vector<NamedThing> leftover_names(const Parameters& parameters);

/// From complete parameters of the right kinds.
std::variant<LeftoverParameters, ParameterError> leftover_parameters(const Parameters& parameters);

}  // namespace reaper

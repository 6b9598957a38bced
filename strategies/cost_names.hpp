// What of the cloud the parameters of `cost` name: projects, flavors, resource classes.
#pragma once

#include <string_view>
#include <vector>

#include "reaper/model/parameters.hpp"

namespace reaper {

/// Instead of the name of a class: all those in which processors are counted.
inline constexpr std::string_view all_cpu_classes = "CPU";

std::vector<NamedThing> names_of_cost(const Parameters& parameters);

/// Priorities of projects by their ids, whatever they are called by. A flavor of the same name
/// keeps its priority; where a project is named twice, the larger counts.
Parameters cost_with_project_ids(Parameters parameters, const ProjectIds& ids);

}  // namespace reaper

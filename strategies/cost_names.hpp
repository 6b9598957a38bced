// What of the cloud the parameters of `cost` name: projects, flavors, resource classes.
#pragma once

#include <vector>

#include "reaper/model/parameters.hpp"

namespace reaper {

std::vector<NamedThing> names_of_cost(const Parameters& parameters);

/// Priorities of projects by their ids, whatever they are called by. A flavor of the same name
/// keeps its priority; where a project is named twice, the larger counts.
Parameters cost_with_project_ids(Parameters parameters, const ProjectIds& ids);

}  // namespace reaper

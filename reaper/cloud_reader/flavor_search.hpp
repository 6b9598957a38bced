// Finds a flavor by what people call it.
#pragma once

#include <optional>
#include <string>

#include "reaper/model/flavor.hpp"
#include "reaper/ports/compute.hpp"

namespace reaper {

struct FlavorSearch {
    std::optional<Flavor> found;  ///< with its extra specs
    std::string why_not;          ///< if none was found
};

/// By its id, else by its name, exactly as Nova writes it.
ResultTask<FlavorSearch> find_flavor(Compute& compute, std::string written);

}  // namespace reaper

// Finds a flavor by what people call it, and makes requests of it.
#pragma once

#include <optional>
#include <string>
#include <variant>

#include "reaper/model/flavor.hpp"
#include "reaper/model/request.hpp"
#include "reaper/ports/compute.hpp"
#include "reaper/request_spec/request_builder.hpp"

namespace reaper {

struct FlavorSearch {
    std::optional<Flavor> found;  ///< with its extra specs
    std::string why_not;          ///< if none was found
};

/// By its id, else by its name, exactly as Nova writes it.
ResultTask<FlavorSearch> find_flavor(Compute& compute, std::string written);

/// The cloud has no flavor of that name.
struct UnknownFlavor {
    std::string why;
};
/// Refused: Placement is not asked for the like of it.
using OfFlavor = std::variant<Request, UnknownFlavor, Refused>;
/// The request, for servers of the flavor that is written.
ResultTask<OfFlavor> with_flavor(Compute& compute, Request request, std::string written,
                                 SchedulerRules rules);
/// The same for one that was searched before.
ResultTask<OfFlavor> with_found_flavor(Compute& compute, Request request, FlavorSearch search,
                                       SchedulerRules rules);

}  // namespace reaper

// What nova-scheduler was asked to find hosts for (`scheduler.select_destinations.start`), as far
// as the failure message that may follow loses it.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "reaper/model/ids.hpp"
#include "reaper/model/placement_constraints.hpp"
#include "reaper/model/time.hpp"

namespace reaper {

/// One search for hosts. It begins only if Placement offered some: a request that Placement can't
/// serve at all never shows here.
struct Schedule {
    RequestId request;
    ServerId server;      ///< the first of n
    ProjectId project{};  ///< whose it is; empty if it is not given
    bool ended = false;   ///< it found hosts (`.end`); one that fails just stops
    /// Forced, requested and hinted places; without the server group, which Nova's API reports as
    /// it is now.
    PlacementConstraints placement;
    std::set<std::string> ignored_hosts;
    std::optional<std::string> availability_zone;
    std::set<Trait> required_traits;             ///< of the image
    std::map<std::string, std::string> image{};  ///< its other properties, and its disk format
    TimePoint at{};                              ///< when Nova sent it

    friend bool operator==(const Schedule&, const Schedule&) = default;
};

}  // namespace reaper

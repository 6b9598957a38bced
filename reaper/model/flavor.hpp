// A flavor, as Nova describes it.
#pragma once

#include <map>
#include <string>

#include "reaper/model/resources.hpp"

namespace reaper {

/// Nova's description of a flavor, from a notification or from the server itself.
struct Flavor {
    std::string name;
    Amount vcpus = 0;
    Amount memory_mb = 0;
    Amount root_gb = 0;
    Amount ephemeral_gb = 0;
    Amount swap_mb = 0;
    std::map<std::string, std::string> extra_specs;

    friend bool operator==(const Flavor&, const Flavor&) = default;
};

}  // namespace reaper

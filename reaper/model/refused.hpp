// A request that is not to be served, and why.
#pragma once

#include <string>

namespace reaper {

struct Refused {
    std::string reason;
    friend bool operator==(const Refused&, const Refused&) = default;
};

}  // namespace reaper

// A request that is not to be served, and why.
#pragma once

#include <string>

namespace reaper {

struct Refused {
    std::string reason;
    std::string safeguard{};  ///< the one that refuses it, as one word; or empty
    friend bool operator==(const Refused&, const Refused&) = default;
};

}  // namespace reaper

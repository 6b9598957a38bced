// A request that is not to be served, and why.
#pragma once

#include <string>

namespace reaper {

struct Refused {
    std::string reason;
    std::string safeguard{};      ///< the one that refuses it, as one word; or empty
    bool no_room_at_all = false;  ///< it admits no kind of room: its server must not boot
    friend bool operator==(const Refused&, const Refused&) = default;
};

}  // namespace reaper

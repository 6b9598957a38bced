// Who paused the reaper, and why.
#pragma once

#include <string>

#include "reaper/model/time.hpp"

namespace reaper {

struct PauseNote {
    std::string by;         ///< empty if it is not said
    std::string reason;     ///< empty if it is not said
    TimePoint at{};         ///< of a file without a word of its own: when it was last changed
    std::string trouble{};  ///< why by whom and why is not known; else empty

    /// `by alice since 2024-05-01T12:00:00.000Z: kernel update`
    std::string line() const;
};

}  // namespace reaper

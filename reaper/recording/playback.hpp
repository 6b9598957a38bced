// Reads a recording in the order in which it was written.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "reaper/recording/lines.hpp"

namespace reaper::recording {

/// What was found, beside the lines themselves.
struct PlaybackEnd {
    int segments = 0;
    std::vector<std::string> remarks;  ///< what is missing or damaged, for people
};

/// Calls `visit` with each line of all segments, the oldest first. What a crash left half written
/// is passed over, with a remark; so is the rest of a segment with a line that makes no sense.
/// `bad_input` if the directory holds no recording, `storage` if it can't be read.
Result<PlaybackEnd> play_back(const std::string& directory,
                              const std::function<void(Line line)>& visit);

}  // namespace reaper::recording

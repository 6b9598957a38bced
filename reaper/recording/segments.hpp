// The files of a recording.
#pragma once

#include <cstdint>
#include <ctime>
#include <filesystem>
#include <string>
#include <vector>

#include "reaper/model/error.hpp"

namespace reaper::recording {

/// `recording-20261125T034200Z-000.jsonl.gz`: by name they are in the order of their beginnings.
std::string segment_name(std::time_t begun, int number);

struct Segment {
    std::string path;
    std::uint64_t bytes = 0;
    std::filesystem::file_time_type written_at;  ///< last
};

/// The oldest first; other files are passed over. `storage` if the directory can't be read.
Result<std::vector<Segment>> segments_in(const std::string& directory);

}  // namespace reaper::recording

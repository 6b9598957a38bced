// Lines in gzip files that grow. Each batch of lines is a separate gzip member: written lines stay
// readable whatever happens to the next batch, and `zcat` reads them all.
#pragma once

#include <cstdint>
#include <ctime>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "reaper/model/error.hpp"

namespace reaper::recording {

/// The text as one gzip member. `storage` if there is no memory for it.
Result<std::string> gzip_member(std::string_view text);

/// How a file of members ended.
struct LinesEnd {
    bool whole = true;     ///< false: it ends amid a member, or is damaged from there on
    bool stopped = false;  ///< `visit` wanted no more
};

/// Longer lines are damage: no writer makes them.
inline constexpr std::size_t max_line = 64UL * 1024 * 1024;

/// Calls `visit` with each complete line, without its end, until it returns false. `storage` if the
/// file can't be read; memory stays below some lines.
Result<LinesEnd> read_gzip_lines(const std::string& path,
                                 const std::function<bool(std::string_view line)>& visit);

// The files of a recording.

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

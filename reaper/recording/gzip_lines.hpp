// Lines in gzip files that grow. Each batch of lines is a separate gzip member: written lines stay
// readable whatever happens to the next batch, and `zcat` reads them all.
#pragma once

#include <functional>
#include <string>
#include <string_view>

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

}  // namespace reaper::recording

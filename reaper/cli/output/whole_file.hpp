// A file that stands there whole or not at all.
#pragma once

#include <functional>
#include <ostream>
#include <string>

#include "reaper/model/error.hpp"

namespace reaper::cli {

/// Writes beside `path`, onto the disk, and renames: a reader sees the old file or the new one.
/// Only the user may read it. What is no plain file (/dev/stdout, a pipe) is written to as it is.
/// `storage` with the reason.
Result<void> write_whole_file(const std::string& path,
                              const std::function<void(std::ostream&)>& write);

}  // namespace reaper::cli

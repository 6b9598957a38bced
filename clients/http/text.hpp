// Foreign text made fit for one line of a log or an error.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace reaper::http {

/// `text` without what is invisible and bytes that are not UTF-8, runs of them and of blanks made
/// one blank; what is beyond `limit` bytes becomes `...`.
std::string one_line(std::string_view text, std::size_t limit);

}  // namespace reaper::http

// Text from outside, made safe to show.
#pragma once

#include <string>
#include <string_view>

namespace reaper {

/// The text with control characters (terminal escapes, line ends) and bytes that are not UTF-8 as
/// `\xNN`, cut at `max_bytes` with `...`. Names in the cloud are chosen by its users.
std::string printable(std::string_view text, std::size_t max_bytes = 256);

}  // namespace reaper

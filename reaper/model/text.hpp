// Text from outside, made safe to show.
#pragma once

#include <concepts>
#include <string>
#include <string_view>

namespace reaper {

/// The text with control characters (terminal escapes, line ends) and bytes that are not UTF-8 as
/// `\xNN`, cut at `max_bytes` with `...`. Names in the cloud are chosen by its users.
std::string printable(std::string_view text, std::size_t max_bytes = 256);

/// `'text'`, printable and cut after 100 bytes.
std::string quoted(std::string_view text);

/// `1 victim`, `2 victims`.
std::string counted(std::integral auto number, std::string_view what) {
    return std::to_string(number) + " " + std::string{what} + (number == 1 ? "" : "s");
}

/// White space, as Python's str.strip and C's isspace know it.
inline constexpr std::string_view blanks = " \t\n\r\f\v";

/// The text without white space at its ends.
std::string_view trimmed(std::string_view text);

}  // namespace reaper

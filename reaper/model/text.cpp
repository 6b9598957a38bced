#include "reaper/model/text.hpp"

#include <cstdint>

namespace reaper {
namespace {

/// Bytes of the valid UTF-8 character at the start of `text`, or 0. C1 controls, and the line and
/// direction controls that can reorder a line of a terminal, count as invalid.
std::size_t character_length(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned char first = byte(0);
    if (first < 0x80) return first >= 0x20 && first != 0x7f ? 1 : 0;
    const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc2 || first > 0xf4 || text.size() < length) return 0;
    std::uint32_t code = first & (0xffU >> (length + 1));
    for (std::size_t i = 1; i < length; ++i) {
        if ((byte(i) & 0xc0U) != 0x80) return 0;
        code = (code << 6U) | (byte(i) & 0x3fU);
    }
    const bool overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
    const bool surrogate = code >= 0xd800 && code <= 0xdfff;
    const bool control = code < 0xa0 || (code >= 0x2028 && code <= 0x202e) ||
                         (code >= 0x2066 && code <= 0x2069) || code == 0x200e || code == 0x200f;
    return overlong || surrogate || control || code > 0x10ffff ? 0 : length;
}

}  // namespace

std::string printable(std::string_view text, std::size_t max_bytes) {
    static constexpr std::string_view hex = "0123456789abcdef";
    std::string safe;
    while (!text.empty()) {
        if (safe.size() >= max_bytes) return safe + "...";
        const std::size_t length = character_length(text);
        if (length > 0) {
            safe += text.substr(0, length);
        } else {
            const auto byte = static_cast<unsigned char>(text.front());
            safe += "\\x";
            safe += hex[byte >> 4U];
            safe += hex[byte & 0x0fU];
        }
        text.remove_prefix(length > 0 ? length : 1);
    }
    return safe;
}

std::string quoted(std::string_view text) {
    return "'" + printable(text, 100) + "'";
}

std::string_view trimmed(std::string_view text) {
    const auto begin = text.find_first_not_of(blanks);
    if (begin == std::string_view::npos) return {};
    return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

}  // namespace reaper

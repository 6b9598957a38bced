#include "clients/http/text.hpp"

namespace reaper::http {

namespace {

/// Bytes of the UTF-8 character that starts here; 0 if none does.
std::size_t character_at(std::string_view text) {
    const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
    const unsigned char first = byte(0);
    if (first < 0x80) return 1;
    std::size_t length = 0;
    if (first >= 0xC2 && first <= 0xDF) length = 2;
    if (first >= 0xE0 && first <= 0xEF) length = 3;
    if (first >= 0xF0 && first <= 0xF4) length = 4;
    if (length == 0 || text.size() < length) return 0;
    for (std::size_t i = 1; i < length; ++i)
        if ((byte(i) & 0xC0U) != 0x80) return 0;
    // C1 controls, and what is overlong, a surrogate or beyond Unicode.
    if (first == 0xC2 && byte(1) < 0xA0) return 0;
    if (first == 0xE0 && byte(1) < 0xA0) return 0;
    if (first == 0xED && byte(1) > 0x9F) return 0;
    if (first == 0xF0 && byte(1) < 0x90) return 0;
    if (first == 0xF4 && byte(1) > 0x8F) return 0;
    return length;
}

}  // namespace

std::string one_line(std::string_view text, std::size_t limit) {
    std::string line;
    bool blank = false;
    while (!text.empty()) {
        const std::size_t length = character_at(text);
        const auto first = static_cast<unsigned char>(text.front());
        const bool shown = length > 0 && first > 0x20 && first != 0x7F;
        if (!shown) {
            blank = true;
            text.remove_prefix(length == 0 ? 1 : length);
            continue;
        }
        const bool space = blank && !line.empty();
        if (line.size() + length + (space ? 1 : 0) > limit) return line + "...";
        if (space) line += ' ';
        blank = false;
        line.append(text.substr(0, length));
        text.remove_prefix(length);
    }
    return line;
}

}  // namespace reaper::http

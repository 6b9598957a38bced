#include "reaper/model/text.hpp"

#include <array>

namespace reaper {

Character first_character(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned char first = byte(0);
    if (first < 0x80) return {first, 1};
    const std::size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc2 || first > 0xf4 || text.size() < size) return {};
    char32_t value = first & (0xffU >> (size + 1));
    for (std::size_t i = 1; i < size; ++i) {
        if ((byte(i) & 0xc0U) != 0x80) return {};
        value = (value << 6U) | (byte(i) & 0x3fU);
    }
    constexpr std::array<char32_t, 5> least{0, 0, 0x80, 0x800, 0x10000};
    if (value < least[size] || value > 0x10ffff || (value >= 0xd800 && value <= 0xdfff)) return {};
    return {value, size};
}

bool is_invisible(char32_t c) {
    return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0xad || c == 0x061c || c == 0x180e ||
           (c >= 0x200b && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) ||
           (c >= 0x2060 && c <= 0x206f) || c == 0xfeff || (c >= 0xfff9 && c <= 0xfffb) ||
           (c >= 0xe0000 && c <= 0xe007f);
}

std::string printable(std::string_view text, std::size_t max_bytes) {
    static constexpr std::string_view hex = "0123456789abcdef";
    std::string safe;
    while (!text.empty()) {
        if (safe.size() >= max_bytes) return safe + "...";
        const Character next = first_character(text);
        const bool shown = next.size > 0 && !is_invisible(next.value);
        const std::size_t size = shown ? next.size : 1;
        if (shown) {
            safe += text.substr(0, size);
        } else {
            const auto byte = static_cast<unsigned char>(text.front());
            safe += "\\x";
            safe += hex[byte >> 4U];
            safe += hex[byte & 0x0fU];
        }
        text.remove_prefix(size);
    }
    return safe;
}

std::string in_quotes(std::string_view text) {
    return "'" + printable(text, 100) + "'";
}

// Goes back to the last `*` only, which is enough.
bool matches_glob(std::string_view pattern, std::string_view text) {
    std::size_t at = 0, from = 0;
    std::size_t star = std::string_view::npos, star_from = 0;
    while (from < text.size()) {
        if (at < pattern.size() && pattern[at] == '*') {
            star = at++;
            star_from = from;
        } else if (at < pattern.size() && (pattern[at] == '?' || pattern[at] == text[from])) {
            ++at;
            ++from;
        } else if (star != std::string_view::npos) {
            at = star + 1;
            from = ++star_from;
        } else {
            return false;
        }
    }
    return pattern.find_first_not_of('*', at) == std::string_view::npos;
}

std::string_view trimmed(std::string_view text) {
    const auto begin = text.find_first_not_of(blanks);
    if (begin == std::string_view::npos) return {};
    return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

std::string to_lower(std::string_view text) {
    std::string small{text};
    for (char& c : small)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return small;
}

std::string to_upper(std::string_view text) {
    std::string capitals{text};
    for (char& c : capitals)
        if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    return capitals;
}

}  // namespace reaper

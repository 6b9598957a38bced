#include "reaper/model/text.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <numeric>
#include <utility>

namespace reaper {
namespace {

bool same(char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) ==
           std::tolower(static_cast<unsigned char>(b));
}

/// Insertions, deletions, replacements and swaps of neighbours that turn one word into the other.
std::size_t distance(std::string_view a, std::string_view b) {
    std::vector<std::vector<std::size_t>> rows(a.size() + 1,
                                               std::vector<std::size_t>(b.size() + 1));
    for (std::size_t i = 0; i <= a.size(); ++i) rows[i][0] = i;
    std::iota(rows[0].begin(), rows[0].end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t replace = rows[i - 1][j - 1] + (same(a[i - 1], b[j - 1]) ? 0 : 1);
            rows[i][j] = std::min({rows[i - 1][j] + 1, rows[i][j - 1] + 1, replace});
            if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1]))
                rows[i][j] = std::min(rows[i][j], rows[i - 2][j - 2] + 1);
        }
    }
    return rows[a.size()][b.size()];
}

/// The nearest first.
std::vector<std::string> near_words(std::string_view word, const std::vector<std::string>& known) {
    constexpr std::size_t longest = 64;
    if (word.size() > longest) return {};
    const std::size_t farthest = std::max<std::size_t>(1, word.size() / 3);
    std::vector<std::pair<std::size_t, std::string>> near;
    for (const auto& candidate : known)
        if (const std::size_t far = distance(word, candidate); far <= farthest)
            near.emplace_back(far, candidate);
    std::ranges::stable_sort(near, [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<std::string> words;
    for (auto& [far, candidate] : near) words.push_back(std::move(candidate));
    return words;
}

}  // namespace

std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& known) {
    const auto words = near_words(word, known);
    return words.empty() ? std::nullopt : std::optional{words.front()};
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& known) {
    constexpr std::size_t most = 3;
    auto words = near_words(word, known);
    if (words.empty()) return "";
    words.resize(std::min(words.size(), most));
    std::string text = "; did you mean ";
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (i > 0) text += i + 1 == words.size() ? " or " : ", ";
        text += in_quotes(words[i]);
    }
    return text + "?";
}

namespace {

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/// Takes the number that `text` begins with, without the zeros before it.
std::string_view take_number(std::string_view& text) {
    const auto* const end = std::ranges::find_if_not(text, is_digit);
    std::string_view number = text.substr(0, static_cast<std::size_t>(end - text.begin()));
    text.remove_prefix(number.size());
    number.remove_prefix(std::min(number.find_first_not_of('0'), number.size()));
    return number;
}

}  // namespace

bool natural_less(std::string_view a, std::string_view b) {
    const std::string_view whole_a = a;
    const std::string_view whole_b = b;
    while (!a.empty() && !b.empty()) {
        if (is_digit(a.front()) && is_digit(b.front())) {
            const std::string_view left = take_number(a);
            const std::string_view right = take_number(b);
            if (left.size() != right.size()) return left.size() < right.size();
            if (left != right) return left < right;
            continue;
        }
        if (a.front() != b.front()) return a.front() < b.front();
        a.remove_prefix(1);
        b.remove_prefix(1);
    }
    if (a.empty() != b.empty()) return a.empty();
    return whole_a < whole_b;
}

std::string name_list(const std::set<std::string>& names) {
    constexpr std::size_t most = 10;
    std::string text;
    std::size_t told = 0;
    for (const std::string& name : names) {
        if (told == most) return text + " and " + std::to_string(names.size() - most) + " more";
        text += (told++ == 0 ? "" : ", ") + in_quotes(name);
    }
    return text.empty() ? "none" : text;
}

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

std::string one_line(std::string_view text, std::size_t limit) {
    std::string line;
    bool blank = false;
    while (!text.empty()) {
        const auto [character, length] = first_character(text);
        if (length == 0 || character == ' ' || is_invisible(character)) {
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

std::string in_quotes(std::string_view text) {
    return "'" + printable(text, 100) + "'";
}

// Goes back to the last `*` only, which is enough.
bool is_uuid(std::string_view text) {
    bool good = text.size() == 36;
    for (std::size_t i = 0; good && i < text.size(); ++i) {
        const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
        good = dash ? text[i] == '-' : std::isxdigit(static_cast<unsigned char>(text[i])) != 0;
    }
    return good;
}

std::string hexadecimal(std::span<const unsigned char> bytes) {
    constexpr const char* digits = "0123456789abcdef";
    std::string text;
    for (const unsigned char byte : bytes) {
        text += digits[byte >> 4];
        text += digits[byte & 15];
    }
    return text;
}

std::string first_line(std::string_view text, std::size_t max_bytes) {
    std::string_view line = text.substr(0, text.find_first_of("\r\n"));
    while (line.ends_with(' ')) line.remove_suffix(1);
    return printable(line, max_bytes);
}

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

// Text: made safe to show, suggestions for unknown words, natural order, lists of names.
#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <iterator>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace reaper {

// Suggests the known word that an unknown one was probably meant to be.

/// By the letters that are wrong, whatever their case; none if no word is near.
std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& known);

/// The three nearest, as text: `; did you mean 'a' or 'b'?`; empty if none is near.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& known);

// The order of names as people count: host-2 before host-10.

/// Numbers in names compare by their values; equal otherwise, as text.
bool natural_less(std::string_view a, std::string_view b);

// Tables of values and their words: `{{Kind::taken, "taken"}, ...}`.

/// `otherwise`: for a value that is not there.
template <class Table, class Value>
std::string_view word_in(const Table& table, Value wanted, std::string_view otherwise = "unknown") {
    for (const auto& [value, word] : table)
        if (value == wanted) return word;
    return otherwise;
}

/// None: no value has this word.
template <class Table>
auto value_in(const Table& table, std::string_view wanted)
    -> std::optional<std::decay_t<decltype(std::begin(table)->first)>> {
    for (const auto& [value, word] : table)
        if (word == wanted) return value;
    return std::nullopt;
}

// Names of things in one line, for people.

/// `'a', 'b' and 4 more`: each as `in_quotes` shows it, ten at most; `none` if there is none.
std::string name_list(const std::set<std::string>& names);

/// A character at the beginning of a text in UTF-8.
struct Character {
    char32_t value = 0;
    std::size_t size = 0;  ///< bytes; 0: not UTF-8
};

/// Of a text that is not empty. Overlong forms, surrogates and values past the end of Unicode are
/// not UTF-8.
Character first_character(std::string_view text);

/// Moves a cursor, ends a line, changes the direction, or does not show: what a name must not do to
/// the line that it stands in.
bool is_invisible(char32_t character);

/// The text with what is invisible and bytes that are not UTF-8 as `\xNN`, cut at `max_bytes` with
/// `...`. Names in the cloud are chosen by its users.
std::string printable(std::string_view text, std::size_t max_bytes = 256);

/// Foreign text made fit for one line of a log or an error: without what is invisible and bytes
/// that are not UTF-8, runs of them and of blanks made one blank; what is beyond `limit` bytes
/// becomes
/// `...`.
std::string one_line(std::string_view text, std::size_t limit);

/// `'text'`, printable and cut after 100 bytes.
std::string in_quotes(std::string_view text);

/// `1 victim`, `2 victims`.
std::string counted(std::integral auto number, std::string_view what) {
    return std::to_string(number) + " " + std::string{what} + (number == 1 ? "" : "s");
}

/// The words of a range, as `word` gives them; empty ones in front get no separator.
template <class Range, class Word = std::identity>
std::string joined(const Range& range, std::string_view separator = ", ", Word word = {}) {
    std::string text;
    for (const auto& each : range) {
        if (!text.empty()) text += separator;
        text += word(each);
    }
    return text;
}

/// 36 characters, hexadecimal digits and dashes where they belong.
bool is_uuid(std::string_view text);
/// Is it `name` that was written? A UUID is an id alone, though another thing may have that name.
inline bool is_name(std::string_view written, std::string_view name) {
    return written == name && !is_uuid(written);
}

/// Two digits for each byte.
std::string hexadecimal(std::span<const unsigned char> bytes);

/// The first line as `printable` has it, without blanks at its end.
std::string first_line(std::string_view text, std::size_t max_bytes);

/// Does the whole text match? `*` stands for any characters, `?` for one.
bool matches_glob(std::string_view pattern, std::string_view text);

/// White space, as Python's str.strip and C's isspace know it.
inline constexpr std::string_view blanks = " \t\n\r\f\v";

/// The text without white space at its ends.
std::string_view trimmed(std::string_view text);

/// Changes only ASCII letters.
std::string to_lower(std::string_view text);
std::string to_upper(std::string_view text);

}  // namespace reaper

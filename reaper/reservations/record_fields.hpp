// Fields of one character each: `name=value;name=value`, as records and orders are written.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "reaper/model/resources.hpp"

namespace reaper {

/// What separates fields, and what does not show, as %XX.
std::string escaped(std::string_view text);
/// The inverse; nothing: it was not written by it.
std::optional<std::string> unescaped(std::string_view text);
/// The value as it is.
void append_field(std::string& text, char name, std::string_view value);
/// To be read by parse_resources.
std::string amounts_field(const Resources& resources);

/// Calls `read(name, value)` for each field until it returns false; false then, or where the text
/// is none of fields.
template <class Read>
bool each_field(std::string_view text, Read read) {
    while (!text.empty()) {
        const std::string_view field = text.substr(0, text.find(';'));
        text.remove_prefix(field.size());
        if (!text.empty()) text.remove_prefix(1);
        if (field.size() < 2 || field[1] != '=' || !read(field[0], field.substr(2))) return false;
    }
    return true;
}

}  // namespace reaper

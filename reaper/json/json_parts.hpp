// Reads JSON that may be large and may be hostile. The elements of long lists are handed out one by
// one and not kept; unknown members are skipped. Depth and number of values are bounded, so that
// memory and time stay in proportion to the text. A duplicate member is a mistake: it is unclear
// which one its writer meant.
#pragma once

#include <cstddef>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "reaper/json/json_place.hpp"

namespace reaper {

/// What is done with the members of the document, which is an object.
struct JsonParts {
    /// Is the member kept? Others are only looked through.
    std::function<bool(const std::string& member)> keeps;
    /// Is the list handed out by its elements? An empty list is kept in its place. A list in an
    /// object that is a member is `member.list`.
    std::function<bool(const std::string& member)> hands_out;
    /// An element of such a list; and each member that is neither list nor object, as it comes.
    std::function<void(const std::string& member, std::size_t index, const nlohmann::json& value)>
        element;
    std::function<void(const std::string& member, const nlohmann::json& value)> plain;
    int max_depth = 16;
    /// A text of so many bytes has at most one value, as long as it has more than `free_values`.
    std::size_t bytes_for_value = 8;
    std::size_t free_values = 10'000;
    /// That are kept, or of the element that comes: so many at once are in memory.
    std::size_t max_held_values = 2'000'000;
    /// Bytes of a text or of a member's name, as they stand there.
    std::size_t max_text = 65'536;
};

/// The members that are kept; null if the text is no object. Throws WrongJson.
nlohmann::json read_json_parts(std::string_view text, const JsonParts& parts);

}  // namespace reaper

#include "clients/http/text.hpp"

#include "reaper/model/text.hpp"

namespace reaper::http {

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

}  // namespace reaper::http

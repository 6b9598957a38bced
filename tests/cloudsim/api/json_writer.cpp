#include "tests/cloudsim/api/json_writer.hpp"

#include <cstdio>

namespace reaper::cloudsim {

JsonWriter& JsonWriter::value(double number) {
    comma();
    char digits[40];
    const auto end = std::to_chars(digits, digits + sizeof digits, number);
    const std::string_view text(digits, static_cast<std::size_t>(end.ptr - digits));
    out_ += text;
    if (text.find_first_of(".en") == std::string_view::npos) out_ += ".0";
    return *this;
}

void JsonWriter::quote(std::string_view text) {
    out_ += '"';
    std::size_t plain = 0;
    for (std::size_t at = 0; at < text.size(); ++at) {
        const char c = text[at];
        if (c != '"' && c != '\\' && static_cast<unsigned char>(c) >= 0x20) continue;
        out_.append(text, plain, at - plain);
        plain = at + 1;
        if (c == '"' || c == '\\') {
            out_ += '\\';
            out_ += c;
        } else if (c == '\n') {
            out_ += "\\n";
        } else {
            char escaped[8];
            std::snprintf(escaped, sizeof escaped, "\\u%04x", static_cast<unsigned>(c) & 0xffU);
            out_ += escaped;
        }
    }
    out_.append(text, plain, text.size() - plain);
    out_ += '"';
}

}  // namespace reaper::cloudsim

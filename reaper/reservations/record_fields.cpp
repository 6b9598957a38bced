#include "reaper/reservations/record_fields.hpp"

#include <charconv>

namespace reaper {

/// What separates fields, and what does not show, as %XX.
std::string escaped(std::string_view text) {
    constexpr std::string_view digits = "0123456789ABCDEF";
    std::string out;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte > ' ' && byte < 0x7f && c != '%' && c != ';' && c != '=') {
            out += c;
        } else {
            out += '%';
            out += digits[byte >> 4];
            out += digits[byte & 15];
        }
    }
    return out;
}

std::optional<std::string> unescaped(std::string_view text) {
    std::string out;
    while (!text.empty()) {
        const auto next = text.find('%');
        out += text.substr(0, next);
        if (next == text.npos) break;
        text.remove_prefix(next + 1);
        unsigned byte = 0;
        if (text.size() < 2) return std::nullopt;
        const auto [end, error] = std::from_chars(text.data(), text.data() + 2, byte, 16);
        if (error != std::errc{} || end != text.data() + 2) return std::nullopt;
        out += static_cast<char>(byte);
        text.remove_prefix(2);
    }
    return out;
}

void append_field(std::string& text, char name, std::string_view value) {
    if (!text.empty()) text += ';';
    text += name;
    text += '=';
    text += value;
}

std::string amounts_field(const Resources& resources) {
    std::string text;
    for (const auto& [name, amount] : resources)
        text += (text.empty() ? "" : ",") + name.str() + ":" + std::to_string(amount);
    return text;
}

}  // namespace reaper

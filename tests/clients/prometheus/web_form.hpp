// What a server makes of a web form.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace reaper::test {

inline std::map<std::string, std::string> web_form(std::string_view body) {
    const auto plain = [](std::string_view text) {
        std::string decoded;
        for (std::size_t i = 0; i < text.size(); ++i) {
            if (text[i] != '%') {
                decoded += text[i] == '+' ? ' ' : text[i];
                continue;
            }
            decoded +=
                static_cast<char>(std::stoi(std::string(text.substr(i + 1, 2)), nullptr, 16));
            i += 2;
        }
        return decoded;
    };
    std::map<std::string, std::string> fields;
    while (!body.empty()) {
        const std::string_view field = body.substr(0, body.find('&'));
        body.remove_prefix(std::min(body.size(), field.size() + 1));
        const std::size_t equals = field.find('=');
        fields.emplace(plain(field.substr(0, equals)), plain(field.substr(equals + 1)));
    }
    return fields;
}

}  // namespace reaper::test

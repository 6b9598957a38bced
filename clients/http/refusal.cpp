#include "clients/http/refusal.hpp"

#include "clients/http/text.hpp"

namespace reaper::http {

Errc failure_kind(int status) {
    switch (status) {
        case 401: return Errc::unauthorized;
        case 403: return Errc::forbidden;
        case 404: return Errc::not_found;
        case 409: return Errc::conflict;
        case 429: return Errc::server_error;  // like 503: too busy, not our mistake
        default: break;
    }
    if (status >= 500) return Errc::server_error;
    return status >= 400 ? Errc::rejected : Errc::bad_answer;
}

std::string redirect_hint(const Response& response) {
    if (response.status < 300 || response.status >= 400) return {};
    const std::string hint = "; redirects are not followed: set the address that it leads to";
    const std::string_view location = response.header("location");
    return location.empty() ? hint : hint + " (" + one_line(location, 200) + ")";
}

std::string without_tags(std::string_view body) {
    std::string words;
    bool in_tag = false;
    for (const char c : body.substr(0, 4096)) {
        if (c == '<') in_tag = true;
        if (!in_tag) words += c;
        if (c == '>') {
            in_tag = false;
            words += ' ';
        }
    }
    return words;
}

std::string without(std::string text, const std::string& secret) {
    if (secret.empty()) return text;
    constexpr std::string_view mark = "...";
    // On behind the mark, which may hold the secret itself (a password of dots).
    for (std::size_t at = text.find(secret); at != std::string::npos;
         at = text.find(secret, at + mark.size()))
        text.replace(at, secret.size(), mark);
    return text;
}

}  // namespace reaper::http

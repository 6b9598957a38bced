#include "clients/openstack/service_error.hpp"

#include <nlohmann/json.hpp>

#include "clients/http/text.hpp"

namespace reaper::openstack {

namespace {

using nlohmann::json;

constexpr std::size_t message_limit = 300;

std::string text_of(const json& object, const char* key) {
    if (!object.is_object()) return {};
    const auto member = object.find(key);
    return member != object.end() && member->is_string() ? member->get<std::string>()
                                                         : std::string();
}

/// Placement: `{"errors": [{"detail": ...}]}`; Keystone and Nova: `{"error": {"message": ...}}`,
/// `{"itemNotFound": {"message": ...}}`; others: `{"message": ...}`.
std::string message_in(const json& document) {
    if (!document.is_object()) return {};
    const auto errors = document.find("errors");
    if (errors != document.end() && errors->is_array() && !errors->empty()) {
        std::string detail = text_of(errors->front(), "detail");
        return detail.empty() ? text_of(errors->front(), "title") : detail;
    }
    for (const auto& [name, value] : document.items())
        if (std::string message = text_of(value, "message"); !message.empty()) return message;
    return text_of(document, "message");
}

/// Proxies answer in HTML: the words between the tags.
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

Errc code_for(int status) {
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

std::string hint_for(const Answer& answer, const std::string& who) {
    const int status = answer.response.status;
    if (status == 403) return "; give " + who + " the role that the policy asks for (admin)";
    if (status >= 300 && status < 400)
        return "; redirects are not followed: set the address that it leads to" +
               (answer.response.header("location").empty()
                    ? std::string()
                    : " (" + http::one_line(answer.response.header("location"), 200) + ")");
    if (status < 300) return "; this call has no such answer";
    return {};
}

}  // namespace

std::string service_message(std::string_view body) {
    const json document = json::parse(body, nullptr, false);
    std::string message;
    if (document.is_discarded())
        message = without_tags(body);
    else
        message = message_in(document);
    return http::one_line(message, message_limit);
}

Error status_error(const Answer& answer, const std::string& who) {
    std::string text = answer.where + ": " + std::to_string(answer.response.status);
    if (const std::string message = service_message(answer.response.body); !message.empty())
        text += ": " + message;
    text += hint_for(answer, who);
    if (const auto id = answer.response.request_id(); !id.empty())
        text += " (" + http::one_line(id, 60) + ")";
    return {code_for(answer.response.status), std::move(text)};
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

}  // namespace reaper::openstack

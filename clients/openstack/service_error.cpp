#include "clients/openstack/service_error.hpp"

#include <nlohmann/json.hpp>

#include "clients/http/failure.hpp"
#include "reaper/json/json_text.hpp"
#include "reaper/model/text.hpp"

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

std::string hint_for(const Answer& answer, const std::string& who) {
    const int status = answer.response.status;
    if (status == 403) return "; give " + who + " the role that the policy asks for (admin)";
    if (std::string hint = http::redirect_hint(answer.response); !hint.empty()) return hint;
    if (status < 300) return "; this call has no such answer";
    return {};
}

}  // namespace

std::string service_message(std::string_view body) {
    const json document = parse_bounded(body);
    std::string message;
    if (document.is_discarded())
        message = http::without_tags(body);
    else
        message = message_in(document);
    return one_line(message, message_limit);
}

Error status_error(const Answer& answer, const std::string& who) {
    std::string text = answer.where + ": " + std::to_string(answer.response.status);
    if (const std::string message = service_message(answer.response.body); !message.empty())
        text += ": " + message;
    text += hint_for(answer, who);
    if (const auto id = answer.response.request_id(); !id.empty())
        text += " (" + one_line(id, 60) + ")";
    return {http::failure_kind(answer.response.status), std::move(text)};
}

}  // namespace reaper::openstack

// What the daemon says when it refuses a call of a command.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "clients/http/local_client.hpp"

namespace reaper::cli {

/// In one line: the message of `{error: {message}}`; else its status.
inline std::string why_refused(const http::LocalAnswer& answer) {
    using nlohmann::json;
    const std::string unknown = "the daemon answers " + std::to_string(answer.status);
    const json said = json::parse(answer.body, nullptr, false);
    if (!said.is_object() || !said.contains("error")) return unknown;
    const json& error = said.at("error");
    const json message = error.is_object() ? error.value("message", json{}) : json{};
    return message.is_string() && !message.empty() ? message.get<std::string>() : unknown;
}

}  // namespace reaper::cli

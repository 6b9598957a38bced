// The admin API: what a running daemon can be asked, as a table of routes. Answers are JSON; a
// refusal is {version, error}.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reaper/api/backend.hpp"
#include "reaper/api/callers.hpp"
#include "reaper/ports/http_handler.hpp"

namespace reaper::api {

/// What was asked, taken apart: `?name=value`, decoded.
struct ApiRequest {
    std::string method;
    std::string path;
    std::vector<std::pair<std::string, std::string>> parameters{};
    std::string body{};
    std::optional<std::string> principal{};  ///< of the caller (Caller)
};

struct Route {
    std::string_view method;
    std::string_view path;
    std::string_view help;  ///< one sentence
    Access needs = Access::look;
    Task<HttpResponse> (*answer)(const Backend& backend, ApiRequest request);
};

std::span<const Route> routes();

/// Finds the route and lets it answer: 404 for another path, 405 for another method, 403 for what
/// the caller may not do, 400 for a target that is no path and query.
Task<HttpResponse> answer(const Backend& backend, Caller caller, HttpRequest request);

/// A refusal in the API's shape.
HttpResponse refuse(int status, const std::string& why);

}  // namespace reaper::api

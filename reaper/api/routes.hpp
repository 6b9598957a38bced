// The admin API: what a running daemon can be asked, as a table of routes. Answers are JSON, but
// for the page; a refusal has OpenStack's shape: {version, error: {code, title, message}}. The
// document of all of it is reaper/api/openapi.json.
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
    std::vector<std::string> parts{};  ///< of the path, each decoded
    std::vector<std::pair<std::string, std::string>> parameters{};
    std::string body{};
    std::optional<std::string> principal{};  ///< of the caller (Caller)
    Access access = Access::look;            ///< of the caller
    ProjectId project{};                     ///< of the caller
    std::string id{};                        ///< what stands in the path for its `{...}`
    std::string last_event_id{};             ///< Last-Event-ID
};

struct Route {
    std::string_view method;
    std::string_view path;  ///< a last part in braces stands for any: `/v1/hosts/{host}`
    std::string_view help;  ///< one sentence
    Access needs = Access::look;
    Task<HttpResponse> (*answer)(const Backend& backend, ApiRequest request);
    /// It tells nothing of this cloud: no caller has to authenticate for it.
    bool open = false;
};

std::span<const Route> routes();

/// Is it for an open route? Such a request is answered for any caller.
bool is_open(const HttpRequest& request);

/// Finds the route and lets it answer: 404 for another path, 405 for another method, 403 for what
/// the caller may not do, 400 for a target that is no path and query.
Task<HttpResponse> answer(const Backend& backend, Caller caller, HttpRequest request);

/// A refusal in the API's shape.
HttpResponse refuse(int status, const std::string& why);

}  // namespace reaper::api

// The admin API: what can be asked of a running daemon, as a table of routes. Answers are JSON; a
// refusal is {version, error}.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reaper/ports/http_handler.hpp"
#include "reaper/daemon/service.hpp"

namespace reaper::admin {

/// What was asked, taken apart: `?name=value`, decoded.
struct Question {
    std::string path;
    std::vector<std::pair<std::string, std::string>> parameters;
};

struct Route {
    std::string_view path;
    std::string_view help;  ///< one sentence
    Task<QuestionAnswer> (*answer)(const Service& service, Question question);
};

std::span<const Route> routes();

/// Finds the route and lets it answer: 404 for another path, 400 for a target that is no path and
/// query. `service` must outlive the answer.
Task<QuestionAnswer> answer(const Service& service, std::string target);

/// A refusal in the API's shape.
QuestionAnswer refuse(int status, const std::string& why);

}  // namespace reaper::admin

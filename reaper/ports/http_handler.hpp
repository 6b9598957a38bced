// Questions that come in over HTTP, and their answers: what the admin API is made of.
#pragma once

#include <functional>
#include <string>

#include "reaper/runtime/task.hpp"

namespace reaper {

struct QuestionAnswer {
    int status = 200;
    std::string body;
    std::string content_type = "application/json";
};

/// Answers a GET of the target (path and query, as it was on the wire). It must end by itself, and
/// let others run now and then.
using Answerer = std::function<Task<QuestionAnswer>(std::string target)>;

}  // namespace reaper

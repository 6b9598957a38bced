// What the proxy answers by itself, in the style of OpenStack's APIs.
#pragma once

#include <string>
#include <string_view>

#include "clients/http/failure.hpp"
#include "reaper/ports/proxy_handler.hpp"

namespace reaper::proxy {

/// `Service Unavailable` of 503; empty for one that has no usual words.
std::string_view usual_reason(int status);

/// `{"errors": [{"status": 503, "title": "Service Unavailable", "detail": ...}]}`
OwnAnswer error_answer(int status, std::string_view detail);

/// 504 for what took too long, 503 for what could not be reached, 502 for an answer that is none.
int status_of(const http::Failure& failure);
int status_of(Errc code);

}  // namespace reaper::proxy

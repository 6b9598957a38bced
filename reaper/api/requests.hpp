// POST /v1/requests: an operator asks for room, and sees what is done for it.
#pragma once

#include "reaper/api/routes.hpp"

namespace reaper::api {

/// The body is one request in the words of `reaper plan --requests`. The answer is a stream of JSON
/// lines: {event: "accepted", id}, then "plan", "step" as they are journaled (and sometimes
/// "waiting"), at last "outcome".
/// The request goes on when the client leaves. 400: the body is wrong; 409: not by this reaper.
Task<HttpResponse> post_request(const Backend& backend, ApiRequest request);

}  // namespace reaper::api

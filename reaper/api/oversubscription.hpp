// GET /v1/oversubscription
#pragma once

#include "reaper/api/routes.hpp"

namespace reaper::api {

/// As of the last interval. 404 where nothing is sold, 503 before the daemon runs.
Task<HttpResponse> get_oversubscription(const Backend& backend, ApiRequest request);

}  // namespace reaper::api

// `GET /v1/usage`: who used how much as what.
#pragma once

#include "reaper/api/backend.hpp"
#include "reaper/api/routes.hpp"

namespace reaper::api {

/// One at a time: each is counted from what Nova and the journal tell of the whole time.
Task<HttpResponse> get_usage(const Backend& backend, ApiRequest request);

}  // namespace reaper::api

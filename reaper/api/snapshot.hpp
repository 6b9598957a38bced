// GET /v1/snapshot: the cloud as the daemon has it, host by host, as snapshot files have it.
#pragma once

#include "reaper/api/routes.hpp"

namespace reaper::api {

Task<HttpResponse> get_snapshot(const Backend& backend, ApiRequest request);

}  // namespace reaper::api

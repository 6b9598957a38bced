// GET /v1/culling_candidates?resources=VCPU:1,MEMORY_MB:2048,DISK_GB:20
#pragma once

#include "reaper/api/routes.hpp"

namespace reaper::api {

/// From the daemon's view of the cloud as it is; nothing is read for it. 400 if the query is not
/// understood, 503 if the cloud has not been read yet.
Task<HttpResponse> culling_candidates(const Backend& backend, ApiRequest request);

}  // namespace reaper::api

// GET /v1/explain/{server}: why a server was deleted, or skipped.
#pragma once

#include "reaper/api/routes.hpp"

namespace reaper::api {

/// By a server's id or name, or a request's id: the shape of reaper/report/explanation.hpp. 404:
/// the journal knows neither; 503 if it can't be read.
Task<HttpResponse> get_explanation(const Backend& backend, ApiRequest request);

}  // namespace reaper::api

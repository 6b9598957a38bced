// GET /v1/room: what the cloud has room for.
#pragma once

#include "reaper/api/routes.hpp"

namespace reaper::api {

/// `?flavor=NAME|resources=VCPU:1,...&count=N&zone=Z&project=P&traits=CUSTOM_A=required,...`: the
/// answer of reaper/report/room.hpp with remarks[] and taken_at. It is decided on the cache as it
/// is, like a plan. 400: the question is wrong; 404: there is no such flavor, zone, project or
/// resource class; 503: the cloud has not been read yet, or can't be asked.
Task<HttpResponse> get_room(const Backend& backend, ApiRequest request);

// GET /v1/oversubscription

/// As of the last interval. 404 where nothing is sold, 503 before the daemon runs.
Task<HttpResponse> get_oversubscription(const Backend& backend, ApiRequest request);

}  // namespace reaper::api

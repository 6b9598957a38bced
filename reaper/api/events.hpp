// GET /v1/events: what happens, as it happens, as server-sent events.
#pragma once

#include "reaper/api/routes.hpp"

namespace reaper::api {

/// text/event-stream. Events: `hello` (the first), `request` {request, what, at, ...}: something
/// was journaled of a request, `what` is received, plan, step, outcome or freed_room; `reaper`
/// {kind, reason, at}: something was done to the reaper itself; `reset`: what was missed since
/// `Last-Event-ID` is gone, so everything is to be asked for anew. A comment each 15 s. 503: so
/// many listen already; 400: a parameter.
Task<HttpResponse> get_events(const Backend& backend, ApiRequest request);

}  // namespace reaper::api

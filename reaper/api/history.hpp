// GET /v1/requests, GET /v1/requests/{id}: what the journal tells of requests.
#pragma once

#include "reaper/api/routes.hpp"

namespace reaper::api {

/// ?limit=N&marker=ID&outcome=KIND&project=ID&host=NAME&since=TIME, newest first:
/// {version, requests[], requests_links[]}. The shape of each is a `line` of
/// reaper/report/json.hpp. `outcome`: how it ended, or `none` for those under way. `host`: servers
/// were deleted on it. `since`: a time, or a duration before now (`2h`). 400 if the query is not
/// understood, or its marker is not (any more) among the newest ones that are looked at; 503 if the
/// journal can't be read.
Task<HttpResponse> list_requests(const Backend& backend, ApiRequest request);

/// What happened since, and the room that is held now.
Task<HttpResponse> get_totals(const Backend& backend, ApiRequest request);

/// The whole record. 404: the journal does not know it.
Task<HttpResponse> get_request(const Backend& backend, ApiRequest request);

}  // namespace reaper::api

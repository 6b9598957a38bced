// What the journal tells: requests, victims, messages, events, totals.
#pragma once

#include "reaper/api/routes.hpp"

namespace reaper::api {

/// ?limit=N&marker=ID&outcome=KIND&project=ID&host=NAME&flavor=NAME&server=ID&since=TIME&until=TIME,
/// newest first:
/// {version, requests[], requests_links[]}. The shape of each is a `line` of
/// reaper/report/json.hpp. `outcome`: how it ended, or `none` for those under way. `host`: servers
/// were deleted on it. `since`: a time, or a duration before now (`2h`). 400 if the query is not
/// understood, or the journal does not know its marker (or no longer); 503 if the journal can't be
/// read.
Task<HttpResponse> list_requests(const Backend& backend, ApiRequest request);

/// Servers whose deletion was sent, newest first, with the same filters; `project` and `flavor` are
/// their own. A marker is the one of a page's link.
Task<HttpResponse> list_victims(const Backend& backend, ApiRequest request);

/// Messages that became no request, or joined one, and what was done to the reaper itself: newest
/// first, with `since` and `until`. The same errors.
Task<HttpResponse> list_messages(const Backend& backend, ApiRequest request);
Task<HttpResponse> list_journal_events(const Backend& backend, ApiRequest request);

/// What happened since, and the room that is held now.
Task<HttpResponse> get_totals(const Backend& backend, ApiRequest request);

/// The whole record. 404: the journal does not know it.
Task<HttpResponse> get_request(const Backend& backend, ApiRequest request);

// GET /v1/explain/{server}: why a server was deleted, or skipped.

/// By a server's id or name, or a request's id: the shape of reaper/report/explanation.hpp. 404:
/// the journal knows neither; 503 if it can't be read.
Task<HttpResponse> get_explanation(const Backend& backend, ApiRequest request);

}  // namespace reaper::api

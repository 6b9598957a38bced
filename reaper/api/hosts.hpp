// GET /v1/hosts, GET /v1/hosts/{host}: who uses the hosts, by the daemon's view of the cloud.
#pragma once

#include "reaper/api/routes.hpp"

namespace reaper::api {

/// ?limit=N&marker=ID&name=PART&zone=AZ&project=ID-OR-NAME&resource_class=C: {version, hosts[],
/// hosts_links[], taken_at}, by id. Nothing is read for it.
///
///  host  {id, name, service_host, state (up, down or disabled), why_unavailable, zone,
///  aggregates[],
///         res_type, estimated, read_at, servers{regular, revocable, evicting},
///         resources{class: {capacity, free, regular, revocable, lent, evicting, reserved, other,
///         promised}}}
///
/// With resource_class, `resources` has that class alone. 400 if the query is not understood, 404
/// if there is no such zone, 503 if the cloud has not been read yet.
Task<HttpResponse> get_hosts(const Backend& backend, ApiRequest request);

/// One host, by its id, name or service host, with its servers: {version, host, servers[]}. 404:
/// there is none.
Task<HttpResponse> get_host(const Backend& backend, ApiRequest request);

}  // namespace reaper::api

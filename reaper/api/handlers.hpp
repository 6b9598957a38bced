// What answers the requests of the admin API, route by route (routes.cpp).
#pragma once

#include <string_view>

#include "reaper/api/routes.hpp"

namespace reaper::api {

// GET /v1/hosts, GET /v1/hosts/{host}: who uses the hosts, by the daemon's view of the cloud.

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

// GET /v1/snapshot: the cloud as the daemon has it, host by host, as snapshot files have it.

Task<HttpResponse> get_snapshot(const Backend& backend, ApiRequest request);

// GET /v1/room: what the cloud has room for.

/// `?flavor=NAME|resources=VCPU:1,...&count=N&zone=Z&project=P&traits=CUSTOM_A=required,...`: the
/// answer of reaper/report/room.hpp with remarks[] and taken_at. It is decided on the cache as it
/// is, like a plan. 400: the question is wrong; 404: there is no such flavor, zone, project or
/// resource class; 503: the cloud has not been read yet, or can't be asked.
Task<HttpResponse> get_room(const Backend& backend, ApiRequest request);

// GET /v1/oversubscription

/// As of the last interval. 404 where nothing is sold, 503 before the daemon runs.
Task<HttpResponse> get_oversubscription(const Backend& backend, ApiRequest request);

// Reservations: GET /v1/reservations, POST /v1/reserve, POST /v1/unreserve.

/// ?role=R&host=H, both may be left out: {version, reservations[], orders[], remarks[]}.
///
///  reservation  {id, host, host_name (empty: there is no such host), role, labels, principal,
///               reservers{principal: resources}, from_config, refines (the id, or null),
///               refines_role, refines_labels, resources (what the role is to have),
///               used, held, lent, owed, lending{lend, floor, longest_loan_s}, trouble}
///  order        {key, principal, state (applied, waiting, failed), orders[] (each in one line),
///               reason (why it failed, or waits), at}
///
/// 503 while this reaper has not read them: it does not serve the queue.
Task<HttpResponse> get_reservations(const Backend& backend, ApiRequest request);

/// {key, principal, dry_run, reservations: [{host (name or UUID), role, labels, resources,
/// refines{role, labels}, lending{lend, floor, longest_loan_s}}]}; labels and what follows
/// resources may be left out, and key, principal and dry_run.
/// 202: all of them hold. 200: they would (dry_run). 400: the body is wrong; 403: the principal
/// may not; 404: no such host, or nothing to refine; 409: the room is not there; 503: not by this
/// reaper now. Nothing holds then. With a key that was given before: the
/// result of that order; 409 if it was another one.
Task<HttpResponse> post_reserve(const Backend& backend, ApiRequest request);

/// The same; each has host, role, labels, resources, refines (of what was taken from that one; a
/// role that is empty: from unreserved room), reserver (of what this one reserved alone; else of
/// what the principal reserved first), and lent_too: also what is lent, whose tenants go first. 409
/// where a part is ordered and it was taken from several.
Task<HttpResponse> post_unreserve(const Backend& backend, ApiRequest request);

// POST /v1/requests: an operator asks for room, and sees what is done for it.

/// The body is one request in the words of `reaper plan --requests`. The answer is a stream of JSON
/// lines: {event: "accepted", id}, then "plan", "step" as they are journaled (and sometimes
/// "waiting"), at last "outcome".
/// The request goes on when the client leaves. 400: the body is wrong; 409: not by this reaper.
Task<HttpResponse> post_request(const Backend& backend, ApiRequest request);

// Servers that operators protect, as the admin API shows and changes them.

Task<HttpResponse> get_protections(const Backend& backend, ApiRequest request);
Task<HttpResponse> post_protect(const Backend& backend, ApiRequest request);
Task<HttpResponse> post_unprotect(const Backend& backend, ApiRequest request);

// What the owner of a revocable server learns, and its guest.

/// ?limit=N&marker=ID: {version, servers[], servers_links[]}, by id: the revocable ones of the
/// caller's project, from the cache. 403: his token is for no project; 503: too many questions of
/// that project, the cloud has not been read yet, or the journal can't be read.
///
///  server  {id, name, status, flavor, launched_at (or null), revocable_because, protected,
///           protected_until, evict_at, evict_because (null: none), evicted{last_24h, last_7d} (of
///           that flavor, any project's), host (for who may look)}
Task<HttpResponse> get_own_servers(const Backend& backend, ApiRequest request);

/// The body is what Nova tells of an instance: {instance-id, metadata, ...}. {} of one that is not
/// revocable, or not known; else {revocable: true, notice_s (its period), evict_at (left out
/// without notice)}. Only the cache is asked.
Task<HttpResponse> post_vendordata(const Backend& backend, ApiRequest request);

// What the journal tells: requests, victims, messages, events, totals.

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

/// ?since=TIME&limit=N slots, 24 h and 48 if not given: {version, since, until, slot_seconds,
/// slots[]}, each slot {at, outcomes, victims, freed_room, waited_for, first_tries} (see
/// TimelineSlot).
Task<HttpResponse> get_timeline(const Backend& backend, ApiRequest request);

/// The whole record. 404: the journal does not know it.
Task<HttpResponse> get_request(const Backend& backend, ApiRequest request);

// GET /v1/explain/{server}: why a server was deleted, or skipped.

/// By a server's id or name, or a request's id: the shape of reaper/report/explanation.hpp. 404:
/// the journal knows neither; 503 if it can't be read.
Task<HttpResponse> get_explanation(const Backend& backend, ApiRequest request);

// `GET /v1/usage`: who used how much as what.

/// One at a time: each is counted from what Nova and the journal tell of the whole time.
Task<HttpResponse> get_usage(const Backend& backend, ApiRequest request);

/// `GET /v1/risk`, the shape of reaper/report/risk.hpp: of the same, how often revocable servers
/// were evicted.
Task<HttpResponse> get_risk(const Backend& backend, ApiRequest request);

// The files that the program carries: GET / is the page, GET /v1/openapi.json the API's document.

/// One HTML document with its style and script in it, and a content security policy that lets just
/// these run, and ask this server alone.
Task<HttpResponse> get_page(const Backend& backend, ApiRequest request);

/// As it is written in reaper/api/openapi.json.
Task<HttpResponse> get_openapi(const Backend& backend, ApiRequest request);

/// Built in, from the files of reaper/api/page (see CMakeLists.txt).
namespace embedded {
extern const std::string_view openapi;
extern const std::string_view page_html;  ///< with `@style@` and `@script@` where these go
extern const std::string_view page_style;
extern const std::string_view page_script;
}  // namespace embedded

}  // namespace reaper::api

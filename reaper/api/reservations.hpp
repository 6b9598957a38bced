// Reservations: GET /v1/reservations, POST /v1/reserve, POST /v1/unreserve.
#pragma once

#include "reaper/api/routes.hpp"

namespace reaper::api {

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

}  // namespace reaper::api

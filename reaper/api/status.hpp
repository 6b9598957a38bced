// GET /v1/status, GET /v1/reapers, POST /v1/pause, POST /v1/resume: how the daemon is, which of
// several acts, and whether it may.
#pragma once

#include "reaper/api/routes.hpp"

namespace reaper::api {

/// {version, program_version, machine, now, line, dry_run, ready, serving, paused, breaker,
/// held_back, no_help (each a line or null), broker{connected, detail}, cache{hosts, servers,
/// oldest_read_at, events_flow, detail} (null before the cloud was read), in_flight, served,
/// strategy, features{reservations, oversubscription}, left_alone[],
/// notices[{server, name, host, request, until}], pause{by, reason, at, line}
/// (the one in force, or null), circuit{state, reason}, you{may_act, principal}}
Task<HttpResponse> get_status(const Backend& backend, ApiRequest request);

/// {version, reapers: [{machine, journal, here, serves}], unknown (why the one that serves is not
/// known, or null)}
Task<HttpResponse> get_reapers(const Backend& backend, ApiRequest request);

/// {reason} (may be left out): this reaper deletes no servers from now on. {version, paused,
/// was_paused, pause}; a pause that is in force already stays as it is. 409: of a dry run, which
/// deletes none.
Task<HttpResponse> post_pause(const Backend& backend, ApiRequest request);

/// Ends the pause, and closes the circuit breaker. {version, paused: null, was_paused, was,
/// breaker_was}
Task<HttpResponse> post_resume(const Backend& backend, ApiRequest request);

/// The pause in force, an operator's or the circuit breaker's.
std::optional<PauseNote> note_in_force(const Backend& backend);

}  // namespace reaper::api

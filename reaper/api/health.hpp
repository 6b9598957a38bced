// How the daemon is, for probes and load balancers: GET /healthz and GET /readyz, and what it
// counts: GET /metrics.
#pragma once

#include <string>
#include <vector>

#include "reaper/api/routes.hpp"

namespace reaper::api {

/// Something that must be so.
struct HealthCheck {
    std::string name;  ///< one word: `broker`
    bool good = true;
    std::string detail;  ///< one line for people; no secrets
};

struct Health {
    /// All good: the process works; if not, only a restart helps.
    std::vector<HealthCheck> live;
    /// All good: a refusal of Nova's that comes now would be looked into, and helped where it may.
    std::vector<HealthCheck> ready;
    /// What is as an operator wants it, and still means that nothing is deleted now: paused, dry
    /// run, standing by.
    std::vector<HealthCheck> notes;
};

/// 200 {version, status: "ok", checks: [{name, ok, detail}], notes: [{name, detail}]}, or the same
/// with 503 and "failing", where one of the checks is not ok.
Task<HttpResponse> get_healthz(const Backend& backend, ApiRequest request);
Task<HttpResponse> get_readyz(const Backend& backend, ApiRequest request);

/// Prometheus' text format, version 0.0.4.
Task<HttpResponse> get_metrics(const Backend& backend, ApiRequest request);

}  // namespace reaper::api

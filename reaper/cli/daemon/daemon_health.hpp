// Whether a daemon runs, and how it is: what probes ask of it.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "config/loader.hpp"
#include "reaper/cli/arguments/arguments.hpp"
#include "reaper/model/error.hpp"

namespace reaper::cli {

struct DaemonHealth {
    enum class State {
        ready,        ///< a refusal of Nova's would be looked into
        not_ready,    ///< it runs, and would look into none
        failing,      ///< it runs, and only a restart helps
        silent,       ///< a process listens, and does not answer
        not_running,  ///< no process listens
        unknown,      ///< it can't be asked
    };
    State state = State::unknown;
    std::string why;  ///< one line, safe to show; empty: nothing is wrong
    bool dry_run = false;
};

/// `ready`, `not ready`, `failing`, ...
const char* to_string(DaemonHealth::State state);

/// `daemon: ready` or `daemon: not ready (broker: ...)`.
std::string to_text(const DaemonHealth& health);
/// {state, why (or null), dry_run (or null: not known)}
nlohmann::json to_json(const DaemonHealth& health);

/// By the answers to /healthz and /readyz.
DaemonHealth health_from(const Result<http::LocalAnswer>& live,
                         const Result<http::LocalAnswer>& ready);

/// Of this machine's daemon, which has some seconds to answer: asked on its socket, else on the
/// port of `metrics.listen` or of an `admin.listen` without TLS.
DaemonHealth local_health(const config::LocalSettings& settings);

/// Of one that is asked over its API.
DaemonHealth health_over(const ApiOptions& options);

/// Where that is in the form of --api; empty: nowhere.
std::string where_to_ask(const config::LocalSettings& settings);

}  // namespace reaper::cli

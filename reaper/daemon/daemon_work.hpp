// What the daemon's shell runs: the service, the gateway, or both.
#pragma once

#include <optional>
#include <string>

#include "reaper/decision/live_settings.hpp"
#include "reaper/runtime/task.hpp"

namespace reaper {

/// How it is, for readiness and `STATUS=`.
struct ServiceStatus {
    bool ready = false;  ///< the broker delivers, and the cloud answered; or the gateway listens
    std::string line = "starting";  ///< for people
    /// Of what is beside it, the gateway: for the status line alone.
    std::string beside{};
    /// Keystone or the broker refuses our credentials; who, and why. Nothing but another
    /// configuration mends that.
    std::optional<std::string> refused{};
};

/// One thread: everything runs on the executor of the coroutine that calls `run`.
class DaemonWork {
public:
    virtual ~DaemonWork() = default;
    /// Works until `stop`. Returns when everything in flight is finished.
    virtual ResultTask<void> run() = 0;
    /// Takes nothing new; `run` returns when what is in flight is done. Idempotent.
    virtual void stop() = 0;
    /// Another configuration holds from now on.
    virtual void reload(LiveSettings settings) = 0;
};

}  // namespace reaper

// The daemon: messages in, requests served one culled plan after the other, acknowledgements out.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "config/settings.hpp"
#include "reaper/ports/event_source.hpp"
#include "reaper/ports/journal.hpp"
#include "reaper/ports/message_source.hpp"
#include "reaper/ports/pause_switch.hpp"
#include "reaper/decision/policy.hpp"
#include "reaper/cloud_reader/snapshot_reader.hpp"

namespace reaper {

/// What may change while the daemon runs (SIGHUP).
struct ServiceOptions {
    std::shared_ptr<const CompiledPolicy> policy;
    config::Cull cull;
    config::Trigger trigger;
    config::LivePicture picture;  ///< fixed at the start
    config::Mark mark{};
    bool dry_run = false;  ///< plans are reported, nothing is deleted; fixed at the start
};

/// What the service works with. All of it must outlive the service.
struct ServicePorts {
    CloudPorts cloud;
    Journal& journal;
    MessageSource& messages;
    EventSource* events;  ///< null: the cloud is read for each decision
    Switch& pause;
};

class LivePicture;
class Ledger;

/// What the daemon knows at this moment, for those who only look. It changes with everything that
/// happens: look at it without waiting in between.
struct ServiceView {
    const LivePicture& picture;
    const Ledger& ledger;
    const CompiledPolicy& policy;
};

/// How it is, for readiness and `STATUS=`.
struct ServiceStatus {
    bool ready = false;  ///< the broker delivers, and the cloud answered
    std::string line;    ///< for people
};

/// One thread: everything runs on the executor of the coroutine that calls `run`.
class Service {
public:
    Service(ServicePorts ports, ServiceOptions options,
            std::function<void(ServiceStatus)> on_status);
    ~Service();

    /// Resumes what the journal left unfinished, then serves messages until `stop`. Returns when
    /// everything in hand is finished and acknowledged; an error if the journal can't be read.
    ResultTask<void> run();
    /// Takes no further message; `run` returns when what is held is done. Idempotent.
    void stop();
    /// Applies to requests admitted from now on.
    void reload(ServiceOptions options);
    /// None before the cloud was read for the first time.
    std::optional<ServiceView> view() const;

private:
    class Impl;
    std::shared_ptr<Impl> impl_;
};

}  // namespace reaper

// The daemon: what asks for room comes in by triggers, requests are served, controllers keep up
// what must be kept up. Here all of them are made and connected; none of the work is done here.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "reaper/api/daemon.hpp"
#include "reaper/daemon/daemon_shell.hpp"
#include "reaper/decision/decision_observer.hpp"
#include "reaper/decision/live_settings.hpp"
#include "reaper/monitoring/daemon_values.hpp"
#include "reaper/ports/cloud_ports.hpp"
#include "reaper/ports/journal.hpp"
#include "reaper/ports/message_source.hpp"
#include "reaper/ports/metrics.hpp"
#include "reaper/ports/pause_switch.hpp"
#include "reaper/ports/proxy_handler.hpp"
#include "reaper/ports/reapers.hpp"

namespace reaper {

/// What the service works with. All of it must outlive the service.
struct ServicePorts {
    CloudPorts cloud;
    Journal& journal;
    MessageSource& messages;
    EventSource* events;  ///< null: the cloud is read for each decision
    Switch& pause;
    Switch& breaker;                       ///< where the circuit breaker keeps that it is open
    Metrics* metrics = nullptr;            ///< null: nothing is measured
    DecisionObserver* observer = nullptr;  ///< null: nothing is recorded
    /// How far the clock is ahead of the cloud's, by the answers of its services; none: not known.
    std::function<std::optional<Duration>()> clock_ahead{};
    bool shared_journal = false;  ///< reapers of other machines write it too, after one another
    /// Does one of these stand by, as known last? Empty: it may.
    std::function<bool()> others_stand_by{};
    /// Tells them how this one is. Empty: there are none.
    std::function<void(ReaperState)> tell_others{};
};

/// One thread: everything runs on the executor of the coroutine that calls `run`.
///
/// `run` resumes what the journal left unfinished, then serves until `stop`. It returns when
/// everything in flight is finished and acknowledged; an error if the journal can't be read. What
/// `reload` brings holds at once, also for requests that are under way: what they planned under
/// another policy and did not send yet is planned again.
class Service : public DaemonWork, public api::Daemon {
public:
    /// All of it, for monitoring; none before it runs.
    virtual std::optional<DaemonState> state() const = 0;
    /// Decides nova-scheduler's searches for hosts, while the service runs; else all pass through.
    /// It may outlive the service.
    virtual std::shared_ptr<ProxyHandler> gateway() = 0;
};

/// What it began lives as long as it needs to, on the executor.
std::shared_ptr<Service> make_service(ServicePorts ports, LiveSettings settings,
                                      std::function<void(ServiceStatus)> on_status);

}  // namespace reaper

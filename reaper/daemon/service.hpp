// The daemon: what asks for room comes in by triggers, requests are served, controllers keep up
// what must be kept up. Here all of them are made and connected; none of the work is done here.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "reaper/api/daemon_view.hpp"
#include "reaper/daemon/daemon_work.hpp"
#include "reaper/decision/decision_observer.hpp"
#include "reaper/decision/live_settings.hpp"
#include "reaper/model/room_answer.hpp"
#include "reaper/monitoring/daemon_state.hpp"
#include "reaper/ports/cloud_ports.hpp"
#include "reaper/ports/event_source.hpp"
#include "reaper/ports/journal.hpp"
#include "reaper/ports/message_source.hpp"
#include "reaper/ports/metrics.hpp"
#include "reaper/ports/pause_switch.hpp"
#include "reaper/ports/proxy_handler.hpp"
#include "reaper/triggers/operator.hpp"

namespace reaper {

class ReservationController;
class ServerProtections;
class RoomPublisher;

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
};

/// One thread: everything runs on the executor of the coroutine that calls `run`.
class Service final : public DaemonWork {
public:
    Service(ServicePorts ports, LiveSettings settings,
            std::function<void(ServiceStatus)> on_status);
    ~Service() override;

    /// Resumes what the journal left unfinished, then serves until `stop`. Returns when everything
    /// in flight is finished and acknowledged; an error if the journal can't be read.
    ResultTask<void> run() override;
    /// Takes nothing new; `run` returns when what is in flight is done. Idempotent.
    void stop() override;
    /// Holds at once, also for requests that are under way: what they planned under another policy
    /// and did not send yet is planned again.
    void reload(LiveSettings settings) override;
    /// None before the cloud was read for the first time.
    std::optional<DaemonView> view() const;
    /// All of it, for those who watch; none before it runs.
    std::optional<DaemonState> state() const;
    DaemonStatus status() const;
    /// What would be decided for the request now, on the cache as it is. Nothing is written or
    /// remembered, nor read but the role of its project. None before the cloud was read for the
    /// first time.
    Task<std::optional<Decision>> would_decide(Request request);
    /// Likewise: what there is room for.
    Task<std::optional<RoomAnswer>> room_for(Request request);
    /// Where operators ask for room; null while it does not run.
    OperatorTrigger* operators();
    /// Room that is kept for roles; null while it does not run.
    ReservationController* reservations();
    /// Likewise.
    ServerProtections* protections();
    /// Room that is sold beyond what is allocated; null while it does not run.
    const RoomPublisher* room_publisher();
    /// Decides nova-scheduler's searches for hosts, while the service runs; else all pass through.
    std::shared_ptr<ProxyHandler> gateway();

private:
    class Impl;
    std::shared_ptr<Impl> impl_;
};

}  // namespace reaper

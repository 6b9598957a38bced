// The inside of the service: its parts, and what it does with them.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/experimental/channel.hpp>
#include <string>
#include <vector>

#include "reaper/cloud/reader/cache_refresher.hpp"
#include "reaper/cloud/reader/cloud_reader.hpp"
#include "reaper/controllers/duties/duty_loop.hpp"
#include "reaper/controllers/freed_room/freed_room_tracker.hpp"
#include "reaper/controllers/freed_room/inventory_reserver.hpp"
#include "reaper/controllers/freed_room/room_lives.hpp"
#include "reaper/controllers/reservations/reservation_controller.hpp"
#include "reaper/controllers/safeguards/cloud_probe.hpp"
#include "reaper/controllers/safeguards/cull_preconditions.hpp"
#include "reaper/controllers/safeguards/safeguard_controller.hpp"
#include "reaper/controllers/safeguards/server_labels.hpp"
#include "reaper/controllers/safeguards/server_protections.hpp"
#include "reaper/daemon/oversubscription.hpp"
#include "reaper/daemon/service.hpp"
#include "reaper/escrow/escrow.hpp"
#include "reaper/gateway/placement_gateway.hpp"
#include "reaper/requests/coordinator.hpp"
#include "reaper/rooms/room_keeper.hpp"
#include "reaper/runtime/async.hpp"
#include "reaper/runtime/clock.hpp"
#include "reaper/runtime/periodic.hpp"
#include "reaper/runtime/turns.hpp"
#include "reaper/triggers/ended_loan.hpp"
#include "reaper/triggers/nova_failures.hpp"
#include "reaper/triggers/operator.hpp"
#include "reaper/triggers/requester.hpp"
#include "reaper/triggers/shelved_images.hpp"
#include "reaper/triggers/shelved_returns.hpp"
#include "reaper/triggers/unshelve.hpp"

namespace reaper {

/// Of a dry run: it deletes nothing, so nothing of it is paused.
class NullSwitch final : public Switch {
public:
    std::optional<std::string> paused() const override { return std::nullopt; }
    std::optional<PauseNote> note() const override { return std::nullopt; }
    Result<void> pause(std::string, std::string) override { return {}; }
    Result<void> resume() override { return {}; }
};

class RunningService final : public Service,
                             public std::enable_shared_from_this<RunningService>,
                             private JournalObserver {
public:
    RunningService(ServicePorts ports, LiveSettings settings,
                   std::function<void(ServiceStatus)> on_status);

    Task<void> prepare() override;
    std::optional<std::string> why_unfit() const override {
        return preparing_ && parts_ ? parts_->probe.why_silent() : std::nullopt;
    }
    ResultTask<void> run() override;
    void stop() override;
    bool may_be_cut_off() const override;
    void reload(LiveSettings settings) override;
    std::optional<DaemonView> view() const override;
    std::optional<DaemonState> state() const override;
    DaemonStatus status() const override;
    Task<std::optional<Decision>> would_decide(Request request) override;
    Task<std::optional<RoomAnswer>> room_for(Request request) override;
    OperatorTrigger* operators() override { return serves() ? &parts_->operators : nullptr; }
    ReservationController* reservations() override {
        return serves() ? &parts_->reservations : nullptr;
    }
    ServerProtections* protections() override { return serves() ? &parts_->protections : nullptr; }
    const RoomPublisher* room_publisher() override {
        return serves() ? &parts_->oversubscription.publisher() : nullptr;
    }
    std::shared_ptr<ProxyHandler> gateway() override;

private:
    /// Everything that the work is done with, in the order in which one needs the other.
    struct Parts {
        Parts(RunningService& service, const boost::asio::any_io_executor& executor);

        Turns planning;
        AsyncSemaphore deletions;
        boost::asio::experimental::channel<void(boost::system::error_code)> idle;
        CloudProbe probe;
        CacheRefresher refresher;
        PlannerWarmer warmer;
        CullPreconditions preconditions;
        SafeguardController safeguards;
        ServerProtections protections;
        ServerLabels labels;
        RoomLives lives;
        FreedRoomTracker tracker;
        InventoryReserver reserver;
        ReservationController reservations;
        FreshDecision decisions;
        RequestCoordinator coordinator;
        NovaFailures nova_failures;
        UnshelveTrigger unshelve;
        ShelvedReturns returns;
        ShelvedImages images;
        EndedLoanTrigger ended_loans;
        OversubscriptionParts oversubscription;
        DutyLoop duties;
        OperatorTrigger operators;
        PlacementGateway gateway;
    };

    bool serves() const { return parts_ && listening_; }
    void use(std::shared_ptr<const CompiledPolicy> policy);
    std::vector<PeriodicTask> reading_tasks();
    ReaperState state_for_others() const;
    std::vector<PeriodicTask> periodic_tasks();
    void spawn_all(std::vector<PeriodicTask> tasks);
    void listen_to_messages();
    void listen_to_events();
    void on_events(std::vector<CloudEvent> events);
    Task<void> wait_for_claims();
    void check_clock();
    std::optional<JournalEvent> notice_clock_step();
    Task<void> note(JournalEvent event);
    ResultTask<void> ask_credential_expires();
    bool handle_refusal(const Error& why);
    Task<void> wait_for_cloud();
    Task<std::optional<Error>> cloud_trouble();
    std::optional<std::string> why_no_help() const;
    SchedulerRules scheduler_rules() const;
    void report();
    ResultTask<void> check_journal();
    void check_journal_silence();
    void leave_journal(Error why);
    void answered() override { journal_heard_ = clock_.steady(); }
    bool journal_is_ours() const;
    std::optional<std::string> journal_trouble() const;
    std::optional<std::string> cloud_silent() const;
    std::optional<std::string> clock_trouble() const;
    bool believes_clock() const;
    std::string waits_for() const;
    std::string hanging_line() const;
    void report_searches() const;
    std::size_t in_flight() const { return parts_ ? parts_->coordinator.in_flight() : 0; }
    RequestCoordinator::Spawn spawner();
    void spawn(Task<void> task);

    WatchedClock clock_;
    NullSwitch null_switch_;
    LiveSettings settings_;
    RoomKeeper rooms_;
    CloudPorts cloud_;  ///< with that clock
    Escrow escrow_;
    std::unique_ptr<Journal> journal_;  ///< tells us of its answers
    /// With that clock, that journal, that switch in a dry run, and Placement as the rooms in
    /// escrow show it.
    ServicePorts ports_;
    std::function<void(ServiceStatus)> on_status_;

    boost::asio::any_io_executor executor_;
    ScheduleMemory schedules_;
    bool stopping_ = false;
    std::unique_ptr<Parts> parts_;  ///< while it runs
    std::size_t active_ = 0;        ///< coroutines that must end before we do
    bool preparing_ = false;        ///< another reaper is active
    bool listening_ = false;        ///< the journal is read, requests are taken
    bool cloud_answered_ = false;
    std::optional<std::string> cloud_refused_;  ///< our credentials, at the start
    std::optional<TimePoint> credential_expires_;
    std::optional<Duration> credential_asked_;  ///< steady; none: it is to be asked
    std::optional<std::string> journal_gone_;   ///< why it could not be read, as asked last
    std::optional<Error> displaced_;            ///< another reaper has or may have our journal
    Duration journal_answered_{};  ///< steady: when the last check that it answered began
    Duration journal_heard_{};     ///< steady: its last answer, to any call
    BrokerState broker_;
    Duration stepped_at_{};  ///< steady: when the clock was looked at last
    ServiceStatus told_;     ///< the last reported one
};

}  // namespace reaper

#include "reaper/daemon/service.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/experimental/channel.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "reaper/cloud/reader/cache_refresher.hpp"
#include "reaper/cloud/reader/cloud_reader.hpp"
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
#include "reaper/decision/decide.hpp"
#include "reaper/decision/room_oracle.hpp"
#include "reaper/escrow/escrow.hpp"
#include "reaper/gateway/placement_gateway.hpp"
#include "reaper/model/text.hpp"
#include "reaper/model/time.hpp"
#include "reaper/requests/coordinator.hpp"
#include "reaper/rooms/room_keeper.hpp"
#include "reaper/runtime/async.hpp"
#include "reaper/runtime/backoff.hpp"
#include "reaper/runtime/clock.hpp"
#include "reaper/runtime/log.hpp"
#include "reaper/runtime/periodic.hpp"
#include "reaper/runtime/turns.hpp"
#include "reaper/triggers/ended_loan.hpp"
#include "reaper/triggers/nova_failures.hpp"
#include "reaper/triggers/operator.hpp"
#include "reaper/triggers/requester.hpp"
#include "reaper/triggers/unshelve.hpp"

namespace reaper {

// The inside of the service: its parts, and what it does with them.

/// Of a dry run: it deletes nothing, so nothing of it is paused.
class NullSwitch final : public Switch {
public:
    std::optional<std::string> paused() const override { return std::nullopt; }
    std::optional<PauseNote> note() const override { return std::nullopt; }
    Result<void> pause(std::string, std::string) override { return {}; }
    Result<void> resume() override { return {}; }
};

class RunningService final : public Service, public std::enable_shared_from_this<RunningService> {
public:
    RunningService(ServicePorts ports, LiveSettings settings,
                   std::function<void(ServiceStatus)> on_status);

    Task<void> prepare() override;
    ResultTask<void> run() override;
    void stop() override;
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
        EndedLoanTrigger ended_loans;
        OversubscriptionParts oversubscription;
        OperatorTrigger operators;
        PlacementGateway gateway;
    };

    bool serves() const { return parts_ && listening_; }
    void use(std::shared_ptr<const CompiledPolicy> policy);
    std::vector<PeriodicTask> reading_tasks();
    std::vector<PeriodicTask> periodic_tasks();
    void spawn_all(std::vector<PeriodicTask> tasks);
    void listen_to_messages();
    void listen_to_events();
    void on_events(std::vector<CloudEvent> events);
    Task<void> wait_for_claims();
    Task<void> check_clock();
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
    std::optional<std::string> journal_trouble() const;
    std::optional<std::string> cloud_silent() const;
    std::optional<std::string> clock_trouble() const;
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
    /// With that clock, that switch in a dry run, and Placement as the rooms in escrow show it.
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
    std::optional<Error> displaced_;            ///< another reaper has our journal: we end
    BrokerState broker_;
    Duration stepped_at_{};  ///< steady: when the clock was looked at last
    ServiceStatus told_;     ///< the last reported one
};

namespace asio = boost::asio;

namespace {

/// Of requests that ended longer ago, nothing is kept.
constexpr Duration kept_for_at_most = std::chrono::days{1};

CloudPorts with_clock(const CloudPorts& cloud, Clock& clock) {
    return {cloud.identity, cloud.compute, cloud.placement, cloud.images, clock};
}

CloudPorts with_placement(const CloudPorts& cloud, Placement& placement) {
    return {cloud.identity, cloud.compute, placement, cloud.images, cloud.clock};
}

/// A dry run writes nothing to the cloud.
LiveSettings for_dry_run(LiveSettings settings) {
    if (settings.dry_run) settings.labels.servers = "none";
    return settings;
}

/// Only the settings that may change while the daemon runs.
LiveSettings with_fixed_parts(LiveSettings wanted, const LiveSettings& in_force) {
    wanted.dry_run = in_force.dry_run;
    wanted.cache = in_force.cache;
    // A plan stays good as long as its policy is the one in force.
    if (wanted.policy->configured == in_force.policy->configured) wanted.policy = in_force.policy;
    const auto& sold = in_force.oversubscription;
    const bool same =
        sold && wanted.oversubscription && wanted.oversubscription->configured == sold->configured;
    const bool switched = !sold != !wanted.oversubscription;  // only at the start
    if (same || switched) wanted.oversubscription = sold;
    return for_dry_run(std::move(wanted));
}

}  // namespace

RunningService::RunningService(ServicePorts ports, LiveSettings settings,
                               std::function<void(ServiceStatus)> on_status)
    : clock_(ports.cloud.clock),
      settings_(for_dry_run(std::move(settings))),
      rooms_(!settings_.dry_run),
      cloud_(with_clock(ports.cloud, clock_)),
      escrow_({cloud_, rooms_.ledger(),
               [this] { return settings_.dry_run || stopping_ ? 0 : ports_.messages.serving(); }}),
      ports_{with_placement(cloud_, escrow_.view()),
             ports.journal,
             ports.messages,
             ports.events,
             settings_.dry_run ? null_switch_ : ports.pause,
             settings_.dry_run ? null_switch_ : ports.breaker,
             ports.metrics,
             ports.observer,
             ports.clock_ahead},
      on_status_(std::move(on_status)) {
    if (!settings_.cache.events) ports_.events = nullptr;
    settings_.cache.events = ports_.events != nullptr;
}

RunningService::Parts::Parts(RunningService& service, const asio::any_io_executor& executor)
    : planning(executor),
      deletions(executor, service.settings_.cull.max_parallel_deletions),
      idle(executor, 1),
      probe(service.cloud_, service.settings_),
      refresher(executor, service.ports_.cloud, service.settings_.cache, service.settings_.policy,
                [&service] { service.report(); }),
      preconditions(
          service.ports_.cloud, refresher, service.settings_.policy,
          [&service](std::shared_ptr<const CompiledPolicy> policy) {
              service.use(std::move(policy));
          },
          [&service] { service.report(); }),
      safeguards({service.ports_.cloud.clock, service.ports_.journal, service.ports_.pause,
                  service.ports_.breaker, service.stopping_, &preconditions},
                 service.settings_.policy->safeguards, service.spawner(),
                 [&service] { service.report(); }),
      protections(service.ports_.cloud.clock, service.ports_.journal,
                  [&service] { service.use(service.settings_.policy); }),
      labels({service.ports_.cloud, refresher, service.settings_, service.stopping_}),
      lives({service.ports_.cloud, service.ports_.journal, refresher, service.stopping_,
             [&service] { return service.settings_.policy->safeguards.short_lived.lived; }},
            [this](const Request& request, std::optional<Duration> lived) {
                safeguards.on_use(request, lived);
            }),
      tracker(
          {service.ports_.cloud, service.ports_.journal, service.rooms_, refresher,
           service.settings_, service.stopping_,
           [&service](const RequestId& id) { return service.escrow_.keeps_for(id); },
           [&service, this](const RequestId& from, const RequestId& to) {
               service.escrow_.reassign(from, to);
               safeguards.on_handed_over(from, to);
           }},
          [this](const Request& request, const FreedRoomResult& result) {
              safeguards.on_freed_room(request, result);
              lives.watch(request, result);
          },
          [this](const std::vector<HostId>& hosts, const Request& request) {
              safeguards.on_cooldown(hosts, request);
          },
          [this](const ServerId& server) { labels.served(server); }),
      reserver({service.ports_.cloud, service.ports_.journal, service.rooms_.ledger(),
                service.stopping_}),
      reservations(
          executor,
          {service.cloud_, refresher, service.rooms_, service.ports_.journal,
           service.settings_.reservations, service.settings_.cull.promise,
           [&service] { return service.settings_.dry_run ? 1 : service.ports_.messages.serving(); },
           [this](const EndedLoan& loan) { ended_loans.submit(loan); }, service.stopping_,
           service.settings_.dry_run}),
      decisions(refresher, service.ports_.cloud.clock, service.rooms_, safeguards.safeguards(),
                &reservations),
      coordinator({service.ports_.cloud, service.ports_.journal, service.rooms_, refresher,
                   decisions, warmer, preconditions, safeguards, tracker, reserver, service.escrow_,
                   planning, deletions, service.settings_, service.stopping_},
                  service.spawner(), [&service] { service.report(); }),
      nova_failures({service.ports_.cloud, service.ports_.journal, service.ports_.messages,
                     service.settings_.trigger, [&service] { return service.scheduler_rules(); },
                     service.schedules_, [this] { return refresher.flowing(); },
                     [this](const RequestId& id) { return gateway.had_hosts(id); }, coordinator,
                     service.spawner(), service.stopping_}),
      unshelve({service.ports_.cloud, service.settings_.trigger,
                [&service] { return service.scheduler_rules(); }, service.schedules_,
                service.ports_.messages, [&service] { return service.broker_.consuming; },
                [&service] {
                    return 2 * service.settings_.trigger.unshelve_interval +
                           service.settings_.cull.deadline;
                },
                coordinator, service.stopping_}),
      ended_loans({service.ports_.cloud.clock, service.settings_.trigger, service.ports_.messages,
                   coordinator, service.stopping_}),
      oversubscription(
          {service.cloud_, service.ports_.journal, service.ports_.messages, service.ports_.metrics,
           refresher, service.rooms_.ledger(), service.settings_, coordinator,
           [this] { return safeguards.paused_reason().has_value(); }, service.stopping_}),
      operators({service.ports_.cloud, service.settings_.trigger, service.ports_.messages,
                 coordinator, service.stopping_, [&service] { return service.scheduler_rules(); }}),
      gateway(executor,
              {service.cloud_, refresher, service.rooms_, service.escrow_, service.ports_.messages,
               service.settings_, [&service] { return service.why_no_help(); },
               [this] { return reservations.lends(); },
               [&service, this](const Request& request) {
                   reservations.update_ledger();
                   return decide(*service.settings_.policy, request, refresher.cache().index(),
                                 refresher.cache().tag_data(), service.rooms_.ledger(),
                                 service.ports_.cloud.clock.now(), safeguards.safeguards(),
                                 refresher.kept_by_locks());
               },
               [this](const ServerId& server) { labels.placed(server); }, service.spawner(),
               coordinator, service.stopping_}) {}

// ---- life ----

Task<void> RunningService::prepare() {
    executor_ = co_await asio::this_coro::executor;
    parts_ = std::make_unique<Parts>(*this, executor_);
    preparing_ = true;
    listen_to_events();
    spawn_all(reading_tasks());
}

ResultTask<void> RunningService::run() {
    const bool prepared = std::exchange(preparing_, false);
    if (prepared && stopping_) {
        while (active_ > 0) co_await parts_->idle.async_receive(asio::use_awaitable);
        if (ports_.events != nullptr) co_await ports_.events->stop();
        co_return Result<void>{};
    }
    if (!prepared) {
        executor_ = co_await asio::this_coro::executor;
        parts_ = std::make_unique<Parts>(*this, executor_);
    }
    parts_->decisions.observed_by(ports_.observer);
    auto fed = co_await parts_->safeguards.restore();
    if (!fed) co_return fed.error();
    auto lives = co_await parts_->lives.restore();
    if (!lives) co_return lives.error();
    auto protections = co_await parts_->protections.restore();
    if (!protections) co_return protections.error();
    use(settings_.policy);
    if (!settings_.dry_run) {
        // What a previous process reserved is given back; a dry run writes nothing to the cloud.
        auto held = co_await parts_->reserver.restore();
        if (!held) co_return held.error();
        const TimePoint since = ports_.cloud.clock.now() - kept_for_at_most;
        auto kept = co_await escrow_.restore(ports_.journal, since);
        if (!kept) co_return kept.error();
    }
    // The broker delivers its messages again, and the look for unshelvings finds those again. Only
    // we know the rest.
    RequestCoordinator::LeaseOf lease_of =
        [this](RequestSource source) -> std::shared_ptr<const Lease> {
        if (source != RequestSource::operator_ && is_awaited(source)) return nullptr;
        return std::make_shared<WhileServingLease>(ports_.messages);
    };
    auto restored = co_await parts_->coordinator.restore(std::move(lease_of));
    if (!restored) co_return restored.error();
    listening_ = true;
    stepped_at_ = ports_.cloud.clock.steady();
    listen_to_messages();
    if (!prepared) {
        listen_to_events();
        spawn_all(reading_tasks());
    }
    spawn_all(periodic_tasks());
    spawn(wait_for_cloud());
    while (!stopping_ || active_ > 0) co_await parts_->idle.async_receive(asio::use_awaitable);
    if (displaced_) {
        // Its journal has what we hold in Placement, and it gives that back.
        co_await ports_.messages.stop();
        if (ports_.events != nullptr) co_await ports_.events->stop();
        co_return *displaced_;
    }
    co_await wait_for_claims();
    report_searches();
    co_await parts_->reserver.give_all_back();
    co_await escrow_.release_all();
    co_await ports_.messages.stop();
    if (ports_.events != nullptr) co_await ports_.events->stop();
    co_return Result<void>{};
}

/// A requester that the gateway helped gets its answer, and claims the room that is kept for it.
Task<void> RunningService::wait_for_claims() {
    constexpr Duration longest{10'000};
    constexpr Duration poll_interval{20};
    Clock& clock = ports_.cloud.clock;
    const Duration until = clock.steady() + longest;
    while (parts_->gateway.is_needed() && clock.steady() < until)
        co_await clock.sleep(poll_interval);
    while (active_ > 0) co_await parts_->idle.async_receive(asio::use_awaitable);
}

void RunningService::stop() {
    if (stopping_) return;
    stopping_ = true;
    if (in_flight() > 0)
        spdlog::info("stopping: finishing {} requests in flight first", in_flight());
    report();
    if (parts_) parts_->idle.try_send(boost::system::error_code{});
}

void RunningService::reload(LiveSettings settings) {
    const auto before = settings_.policy;
    settings_ = with_fixed_parts(std::move(settings), settings_);
    credential_asked_.reset();
    if (!parts_) return;
    parts_->refresher.ask_refused_again();
    parts_->labels.ask_refused_again();
    if (settings_.policy == before) return;
    use(settings_.policy);
    parts_->preconditions.reload(settings_.policy);
}

/// As it is written, or with its names looked up; and with what operators protect.
void RunningService::use(std::shared_ptr<const CompiledPolicy> policy) {
    // It was compiled before, so it can be.
    settings_.policy = with_protected(std::move(policy), parts_->protections.reasons()).value();
    parts_->refresher.reload(settings_.policy);
    parts_->safeguards.reload(settings_.policy->safeguards);
}

/// Why the cloud can't be worked with now; none if it answers.
Task<std::optional<Error>> RunningService::cloud_trouble() {
    TaggerInputs tagger_inputs = settings_.policy->tagger_inputs();
    auto tag_data = co_await read_tag_data(ports_.cloud, std::move(tagger_inputs));
    if (!tag_data) co_return tag_data.error();
    auto services = co_await ports_.cloud.compute.compute_services();
    if (!services) co_return services.error();
    auto providers = co_await ports_.cloud.placement.providers();
    if (!providers) co_return providers.error();
    co_return std::nullopt;
}

/// Each call reports that our credentials are refused: one line is logged, at the start by the
/// start itself. True: the caller need not log it.
bool RunningService::handle_refusal(const Error& why) {
    if (why.code != Errc::unauthorized) return false;
    if (cloud_answered_ && parts_->probe.refused())
        spdlog::error(
            "{}; no servers are deleted until it accepts them (another password in the "
            "configuration holds from the next start on)",
            why.what);
    return true;
}

Task<void> RunningService::wait_for_cloud() {
    Backoff backoff{ports_.cloud.clock, std::chrono::seconds{30}};
    while (!stopping_) {
        const auto trouble = co_await cloud_trouble();
        if (!trouble) {
            cloud_answered_ = true;
            parts_->probe.all_answered();
            cloud_refused_.reset();
            report();
            co_return;
        }
        cloud_refused_.reset();
        if (trouble->code == Errc::unauthorized) {
            cloud_refused_ = trouble->what;
            backoff.slow_down();
        }
        // Refused credentials are logged where they end the start.
        if (!cloud_refused_)
            spdlog::error("the cloud does not answer as it should, trying again: {}",
                          trouble->what);
        report();
        co_await backoff.pause(stopping_);
    }
}

/// That the gateway takes traits of res-type out is known once nova-scheduler has asked it.
SchedulerRules RunningService::scheduler_rules() const {
    SchedulerRules rules = settings_.policy->scheduler;
    if (parts_->gateway.counts().searches == 0) rules.res_type_taken_out = false;
    return rules;
}

RequestCoordinator::Spawn RunningService::spawner() {
    return [this](Task<void> task) { spawn(std::move(task)); };
}

void RunningService::spawn(Task<void> task) {
    ++active_;
    asio::co_spawn(executor_, std::move(task),
                   [self = shared_from_this()](std::exception_ptr error) {
                       --self->active_;
                       if (self->active_ == 0 && self->stopping_)
                           self->parts_->idle.try_send(boost::system::error_code{});
                       // A broken invariant: abort, and let the journal resume what was under way.
                       if (error) std::rethrow_exception(error);
                   });
}

// ---- the gateway ----

namespace {

/// What the gateway's proxy holds on to: it may take calls before the service runs, and after.
class WhileItRuns final : public ProxyHandler {
public:
    using Handler = std::shared_ptr<ProxyHandler>;
    explicit WhileItRuns(std::function<Handler()> handler) : handler_(std::move(handler)) {}

    bool wants(std::string_view method, std::string_view target) const override {
        const Handler handler = handler_();
        return handler && handler->wants(method, target);
    }
    bool owns(std::string_view target) const override {
        const Handler handler = handler_();
        return handler && handler->owns(target);
    }
    std::string line() const override {
        const Handler handler = handler_();
        return handler ? handler->line() : "passing everything through: not serving";
    }
    /// A call gives back what it holds of the service when it ends: the service lives until then.
    Task<ProxyAnswer> handle(HttpRequest request, ProxyCall& call) override {
        const Handler handler = handler_();
        if (!handler) co_return Error{Errc::unreachable, "the service has just ended"};
        co_return co_await handler->handle(std::move(request), call);
    }

private:
    std::function<Handler()> handler_;
};

}  // namespace

std::shared_ptr<ProxyHandler> RunningService::gateway() {
    const std::weak_ptr<RunningService> weak = weak_from_this();
    return std::make_shared<WhileItRuns>([weak] {
        const auto service = weak.lock();
        PlacementGateway* const gateway =
            service && service->serves() ? &service->parts_->gateway : nullptr;
        return std::shared_ptr<ProxyHandler>(service, gateway);
    });
}

std::shared_ptr<Service> make_service(ServicePorts ports, LiveSettings settings,
                                      std::function<void(ServiceStatus)> on_status) {
    return std::make_shared<RunningService>(std::move(ports), std::move(settings),
                                            std::move(on_status));
}

// What the service reports about itself, and what it would do for a question.

std::optional<DaemonView> RunningService::view() const {
    if (!parts_ || !parts_->refresher.built()) return std::nullopt;
    return DaemonView{parts_->refresher.cache(), rooms_.ledger(), *settings_.policy};
}

std::optional<DaemonState> RunningService::state() const {
    if (!parts_) return std::nullopt;
    DaemonState state{settings_,
                      clock_,
                      broker_,
                      ports_.messages,
                      ports_.events,
                      ports_.pause,
                      ports_.breaker,
                      parts_->refresher,
                      rooms_.ledger(),
                      parts_->safeguards,
                      parts_->coordinator,
                      parts_->reserver,
                      escrow_,
                      parts_->reservations,
                      parts_->gateway,
                      parts_->oversubscription.publisher(),
                      parts_->oversubscription.qos(),
                      parts_->oversubscription.reader(),
                      ports_.observer};
    state.listening = listening_;
    state.cloud_answered = cloud_answered_;
    state.cloud_refused = cloud_refused_;
    state.cloud_silent = cloud_silent();
    state.clock_trouble = clock_trouble();
    state.journal_trouble = journal_trouble();
    state.credential_expires = credential_expires_;
    state.stopping = stopping_;
    // Reading a long journal is no step.
    state.stepped_at = listening_ ? stepped_at_ : clock_.steady();
    return state;
}

DaemonStatus RunningService::status() const {
    DaemonStatus state;
    state.dry_run = settings_.dry_run;
    state.ready = told_.ready;
    state.line = told_.line;
    state.serving = !settings_.dry_run && ports_.messages.serving() != 0;
    state.paused = ports_.pause.paused();
    state.breaker = ports_.breaker.paused();
    state.broker_connected = broker_.consuming;
    state.broker = broker_.detail;
    state.strategy = settings_.policy->strategy_name;
    state.reservations = settings_.reservations.enabled;
    state.oversubscription = settings_.oversubscription != nullptr;
    state.no_help = "the daemon starts";
    if (!parts_) return state;
    state.no_help = why_no_help();
    const auto stopped = parts_->safeguards.paused_reason();
    if (!state.paused && !state.breaker) state.held_back = stopped;
    state.events_flow = parts_->refresher.flowing();
    state.cache = parts_->refresher.status();
    state.in_flight = in_flight();
    state.served = parts_->coordinator.served();
    if (state.reservations)
        state.reservations_unknown = parts_->decisions.why_without_reservations();
    state.approved_max_age = settings_.cull.approved_max_age;
    state.circuit = state.breaker
                        ? CircuitState::open
                        : parts_->safeguards.safeguards().breaker().state(ports_.cloud.clock.now());
    state.left_alone = parts_->safeguards.safeguards().left_alone(ports_.cloud.clock.now());
    return state;
}

Task<std::optional<Decision>> RunningService::would_decide(Request request) {
    if (!listening_ || !parts_->refresher.built()) co_return std::nullopt;
    auto policy = settings_.policy;
    co_return co_await parts_->decisions.would_decide(std::move(policy), std::move(request));
}

Task<std::optional<RoomAnswer>> RunningService::room_for(Request request) {
    if (!listening_ || !parts_->refresher.built()) co_return std::nullopt;
    auto policy = settings_.policy;
    co_return co_await parts_->decisions.room_for(std::move(policy), std::move(request));
}

/// Why no waiting request can be served now; none if all is well.
std::optional<std::string> RunningService::why_no_help() const {
    if (settings_.dry_run) return "a dry run changes nothing";
    if (const auto paused = parts_->safeguards.paused_reason()) return paused;
    if (const auto unknown = parts_->safeguards.not_known_yet()) return unknown;
    if (!broker_.consuming) return "the broker can't be reached";
    if (ports_.messages.serving() == 0) return not_serving;
    if (!cloud_answered_) return "the cloud does not answer";
    if (const auto silent = cloud_silent()) return silent;
    if (const auto wrong = clock_trouble()) return wrong;
    if (const auto trouble = journal_trouble()) return "the journal can't be written: " + *trouble;
    return std::nullopt;
}

std::optional<std::string> RunningService::journal_trouble() const {
    if (journal_gone_) return journal_gone_;
    return parts_ ? parts_->coordinator.journal_trouble() : std::nullopt;
}

/// Which service of the cloud has stopped answering.
std::optional<std::string> RunningService::cloud_silent() const {
    if (!parts_ || !cloud_answered_) return std::nullopt;
    return parts_->probe.why_silent();
}

/// Messages count as old, or as of the future, by our clock.
std::optional<std::string> RunningService::clock_trouble() const {
    constexpr Duration most{60'000};
    const auto ahead = ports_.clock_ahead ? ports_.clock_ahead() : std::nullopt;
    if (!ahead || std::chrono::abs(*ahead) <= most) return std::nullopt;
    return std::string{"the clock of this machine is "} +
           (*ahead > Duration{} ? "ahead of" : "behind") +
           " that of the cloud's services by more than a minute, so that messages are taken for " +
           (*ahead > Duration{} ? "old" : "newer than they are") + ": set it, and keep it by NTP";
}

/// What the service is not ready for; empty if it is.
std::string RunningService::waits_for() const {
    if (!broker_.consuming && broker_.detail.empty()) return "starting";
    if (!broker_.consuming) return "waiting for the broker: " + broker_.detail;
    if (!cloud_answered_) return "waiting for the cloud";
    if (const auto silent = cloud_silent()) return "waiting for the cloud: " + *silent;
    if (const auto wrong = clock_trouble()) return "not ready: " + *wrong;
    if (const auto lost = journal_trouble()) return "waiting for the journal: " + *lost;
    return "";
}

/// Where deletions hang; nothing if nowhere.
std::string RunningService::hanging_line() const {
    if (!parts_ || !parts_->refresher.built()) return "";
    std::string names;
    const auto& deletions = parts_->safeguards.safeguards().deletions();
    for (const auto& [id, why] : deletions.reasons(ports_.cloud.clock.now())) {
        const Host* const host = parts_->refresher.cache().find(id);
        names += (names.empty() ? "" : ", ") + printable(host ? host->name : id.str(), 64);
    }
    return names.empty() ? "" : "; deletions hang on " + names;
}

void RunningService::report() {
    if (preparing_) return;
    ServiceStatus status;
    const std::string waits = waits_for();
    status.ready = waits.empty();
    status.refused = cloud_refused_;
    if (broker_.refused) status.refused = broker_.detail;
    const std::string flight = "requests in flight: " + std::to_string(in_flight());
    const auto paused_reason = parts_ ? parts_->safeguards.paused_reason() : std::nullopt;
    if (stopping_)
        status.line = "stopping; " + flight;
    else if (!waits.empty())
        status.line = waits;
    else
        status.line = (paused_reason ? printable(*paused_reason) : std::string{"listening"}) +
                      "; " + flight +
                      ", served: " + std::to_string(parts_ ? parts_->coordinator.served() : 0) +
                      "; cache: " + (parts_ ? parts_->refresher.status() : "none") + hanging_line();
    told_ = status;
    if (on_status_) on_status_(std::move(status));
}

void RunningService::report_searches() const {
    const DurationHistogram& times = parts_->decisions.search_times();
    if (times.count() == 0) return;
    const auto ms = [](DurationHistogram::Length length) {
        return std::chrono::duration<double, std::milli>{length}.count();
    };
    spdlog::info(
        "{} searches for hosts and victims: median {:.2f} ms of processor time, 99 % within {:.2f} "
        "ms, longest {:.2f} ms",
        times.count(), ms(times.within(500)), ms(times.within(990)), ms(times.longest()));
}

// What the service does again and again, and what comes to it from the broker.

namespace {

constexpr Duration between_clock_checks{1000};
constexpr Duration between_journal_checks{2000};
constexpr Duration hour = std::chrono::hours{1};
constexpr Duration between_looks_at_credentials{5000};

std::function<Duration()> every(Duration interval) {
    return [interval] { return interval; };
}

}  // namespace

void RunningService::spawn_all(std::vector<PeriodicTask> tasks) {
    for (auto& task : tasks)
        spawn(run_periodically(std::move(task), ports_.cloud.clock, stopping_,
                               [this](const Error& why) { return handle_refusal(why); }));
}

/// What a standby does again and again, too.
std::vector<PeriodicTask> RunningService::reading_tasks() {
    std::vector<PeriodicTask> tasks;
    tasks.push_back({"reading the cloud", every(CacheRefresher::step),
                     [this] { return parts_->refresher.refresh(); }, std::chrono::seconds{5}});
    // A Keystone that hangs delays nothing else.
    tasks.push_back({"reading the names of projects", every(CacheRefresher::step),
                     [this] { return parts_->refresher.refresh_project_names(); }});
    return tasks;
}

/// Everything else that is done again and again.
std::vector<PeriodicTask> RunningService::periodic_tasks() {
    const auto quietly = [](auto work) {
        return [work]() -> ResultTask<void> {
            work();
            co_return Result<void>{};
        };
    };
    std::vector<PeriodicTask> tasks;
    tasks.push_back({"looking into what culls rest on", every(CullPreconditions::step),
                     [this] { return parts_->preconditions.check(); }, std::chrono::seconds{10}});
    tasks.push_back({"searching in advance", every(PlannerWarmer::step), quietly([this] {
                         parts_->warmer.warm_up(parts_->refresher, *settings_.policy,
                                                ports_.cloud.clock.now());
                     })});
    tasks.push_back({"watching the pause", every(SafeguardController::step),
                     quietly([this] { parts_->safeguards.check(); })});
    tasks.push_back({"ending protections of servers", every(ServerProtections::step),
                     [this] { return parts_->protections.check(); }, std::chrono::seconds{10}});
    tasks.push_back({"watching freed room", every(FreedRoomTracker::step),
                     [this] { return parts_->tracker.check(); }, std::chrono::seconds{10}});
    tasks.push_back({"watching how long freed room is used", every(RoomLives::step),
                     [this] { return parts_->lives.check(); }, std::chrono::seconds{10}});
    tasks.push_back({"giving reserved inventory back", every(InventoryReserver::step),
                     [this] { return parts_->reserver.check(); }, std::chrono::seconds{5}});
    tasks.push_back({"keeping reservations", every(ReservationController::step),
                     [this] { return parts_->reservations.check(); }, std::chrono::seconds{30}});
    tasks.push_back({"ending what is kept of freed room", every(Escrow::step),
                     [this] { return escrow_.check(); }, std::chrono::seconds{5}});
    if (!settings_.gateway.listen.empty() && !settings_.dry_run)
        tasks.push_back({"looking for freed room that another reaper keeps",
                         every(Escrow::between_settlings),
                         [this] { return escrow_.settle_others(); }, hour});
    tasks.push_back(
        {"labeling servers", every(ServerLabels::step), [this] { return parts_->labels.check(); }});
    tasks.push_back({"looking for unshelvings that found no host",
                     [this] { return settings_.trigger.unshelve_interval; },
                     [this] { return parts_->unshelve.check(); }, std::chrono::minutes{2}, true});
    for (auto& task : parts_->probe.tasks()) tasks.push_back(std::move(task));
    for (auto& task : parts_->oversubscription.tasks()) tasks.push_back(std::move(task));
    if (ports_.observer != nullptr)
        tasks.push_back(
            {"recording the cloud", [this] { return ports_.observer->step(); }, quietly([this] {
                 if (parts_->refresher.built()) ports_.observer->keep_up(parts_->refresher.cache());
             })});
    tasks.push_back({"asking when the credentials expire", every(between_looks_at_credentials),
                     [this] { return ask_credential_expires(); }, hour});
    tasks.push_back({"looking after the journal", every(between_journal_checks),
                     [this] { return check_journal(); }, std::chrono::seconds{10}});
    tasks.push_back({"watching the clock", every(between_clock_checks),
                     [this]() -> ResultTask<void> {
                         co_await check_clock();
                         co_return Result<void>{};
                     },
                     std::chrono::seconds{1}, true});
    return tasks;
}

void RunningService::listen_to_messages() {
    // Weak: a source that outlives us must not keep us alive beyond the executor.
    const std::weak_ptr<RunningService> weak = weak_from_this();
    MessageSource::Handlers handlers;
    handlers.message = [weak](Delivery delivery) {
        const auto self = weak.lock();
        if (!self || self->stopping_) return;
        // The sender had the time of the wall clock, which counts for how long it is served.
        if (auto step = self->notice_clock_step()) self->spawn(self->note(std::move(*step)));
        self->parts_->nova_failures.on_message(std::move(delivery));
    };
    handlers.state = [weak](BrokerState state) {
        const auto self = weak.lock();
        if (!self) return;
        self->broker_ = std::move(state);
        self->report();
    };
    ports_.messages.start(std::move(handlers));
}

void RunningService::listen_to_events() {
    if (ports_.events == nullptr) return;
    const std::weak_ptr<RunningService> weak = weak_from_this();
    EventSource::Handlers handlers;
    handlers.events = [weak](std::vector<CloudEvent> events) {
        if (const auto self = weak.lock()) self->on_events(std::move(events));
    };
    handlers.state = [weak](EventFeedState state) {
        if (const auto self = weak.lock()) self->parts_->refresher.on_feed(state);
    };
    ports_.events->start(std::move(handlers));
}

/// That a server is gone, or is being deleted.
static bool tells_end(const CloudEvent& event) {
    const auto* const seen = std::get_if<ServerSeen>(&event);
    return std::holds_alternative<ServerGone>(event) ||
           (seen != nullptr && seen->record.server.status == "DELETED");
}

/// Searches for hosts are remembered, everything else changes the cache. A server that leaves may
/// have waited for room.
void RunningService::on_events(std::vector<CloudEvent> events) {
    const TimePoint now = ports_.cloud.clock.now();
    std::erase_if(events, [&](CloudEvent& event) {
        auto* const schedule = std::get_if<Schedule>(&event);
        if (schedule == nullptr) return false;
        schedules_.note(std::move(*schedule), now);
        return true;
    });
    if (events.empty()) return;
    parts_->tracker.note_left(events);
    // A server that leaves took its slot before: count that while it is still visible.
    std::vector<CloudEvent> batch;
    for (CloudEvent& event : events) {
        if (tells_end(event) && rooms_.ledger().promises_anything()) {
            parts_->refresher.on_events(std::exchange(batch, {}));
            const CloudCache& cache = parts_->refresher.cache();
            rooms_.observe([&cache](const HostId& id) { return cache.find(id); },
                           cache.index().changes(), now);
        }
        batch.push_back(std::move(event));
    }
    parts_->refresher.on_events(std::move(batch));
}

Task<void> RunningService::check_clock() {
    stepped_at_ = ports_.cloud.clock.steady();
    if (told_.ready != waits_for().empty()) report();
    if (auto step = notice_clock_step()) co_await note(std::move(*step));
}

/// What is remembered moves with the wall clock. The event to journal; none if it was not set.
std::optional<JournalEvent> RunningService::notice_clock_step() {
    const auto by = clock_.step();
    if (!by) return std::nullopt;
    JournalEvent event;
    event.kind = "clock-stepped";
    event.reason = "the wall clock was set " + std::string{*by > Duration{} ? "forward" : "back"} +
                   " by " + format_duration(std::chrono::abs(*by));
    event.at = ports_.cloud.clock.now();
    spdlog::warn("{}; promises move with it, and the cloud is read again", event.reason);
    rooms_.clock_stepped(*by);
    parts_->refresher.on_clock_step(*by);
    parts_->safeguards.safeguards().shift(*by);
    parts_->oversubscription.on_clock_step(*by);
    return event;
}

Task<void> RunningService::note(JournalEvent event) {
    auto noted = co_await ports_.journal.note_event(std::move(event));
    if (!noted) spdlog::error("not journaled: {}", noted.error().what);
}

/// A file that is removed or replaced is noticed before something has to be written.
ResultTask<void> RunningService::check_journal() {
    auto read = co_await ports_.journal.holds();
    journal_gone_.reset();
    if (!read) journal_gone_ = read.error().what;
    if (!read && read.error().code == Errc::conflict && !displaced_) {
        spdlog::critical("{}", read.error().what);
        displaced_ = read.error();
        stop();
    }
    if (!read) co_return read.error();
    co_return Result<void>{};
}

/// Once an hour, and after a reload: the right to see it may be granted, or taken away.
ResultTask<void> RunningService::ask_credential_expires() {
    const Duration now = ports_.cloud.clock.steady();
    if (credential_asked_ && now - *credential_asked_ < hour) co_return Result<void>{};
    credential_asked_ = now;
    auto told = co_await ports_.cloud.identity.credential_expires();
    if (!told) {
        credential_asked_.reset();
        co_return told.error();
    }
    if (credential_expires_ != *told) {
        if (*told)
            spdlog::info("what we log in with expires at {}", iso_time(**told));
        else
            spdlog::info("it is no longer known when what we log in with expires");
    }
    credential_expires_ = *told;
    co_return Result<void>{};
}

}  // namespace reaper

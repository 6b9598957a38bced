#include <boost/asio/co_spawn.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <utility>

#include "reaper/daemon/running_service.hpp"
#include "reaper/decision/decide.hpp"
#include "reaper/decision/duties.hpp"
#include "reaper/planner/places.hpp"
#include "reaper/requests/observed_journal.hpp"
#include "reaper/runtime/backoff.hpp"
#include "reaper/runtime/log.hpp"

namespace reaper {

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
               [this] {
                   const bool acts = !settings_.dry_run && !stopping_ && journal_is_ours();
                   return acts ? ports_.messages.serving() : 0;
               }}),
      journal_(observed_journal(ports.journal, {this})),
      ports_{with_placement(cloud_, escrow_.view()),
             *journal_,
             ports.messages,
             ports.events,
             settings_.dry_run ? null_switch_ : ports.pause,
             settings_.dry_run ? null_switch_ : ports.breaker,
             ports.metrics,
             ports.observer,
             ports.clock_ahead,
             ports.shared_journal,
             std::move(ports.others_stand_by),
             std::move(ports.tell_others)},
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
                  service.ports_.breaker, service.stopping_, &preconditions,
                  service.ports_.shared_journal},
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
           [&service] { return service.journal_is_ours(); },
           [this](const EndedLoan& loan) { ended_loans.submit(loan); },
           [&service](std::set<ProviderId> providers) {
               return service.escrow_.turn_for(std::move(providers));
           },
           service.stopping_, service.settings_.dry_run}),
      decisions(refresher, service.ports_.cloud.clock, service.rooms_, safeguards.safeguards(),
                &reservations,
                [this](const Request& request) { return oversubscription.needed(request); }),
      coordinator({service.ports_.cloud, service.ports_.journal, service.rooms_, refresher,
                   decisions, warmer, preconditions, safeguards, tracker, reserver, service.escrow_,
                   planning, deletions, service.settings_, service.stopping_},
                  service.spawner(), [&service] { service.report(); }),
      nova_failures({service.ports_.cloud, service.ports_.journal, service.ports_.messages,
                     service.settings_.trigger, [&service] { return service.scheduler_rules(); },
                     service.schedules_, [this] { return refresher.flowing(); },
                     [this](const RequestId& id) { return gateway.had_hosts(id); }, coordinator,
                     service.spawner(), service.stopping_}),
      unshelve({service.ports_.cloud, service.ports_.journal, service.settings_.trigger,
                [&service] { return service.scheduler_rules(); }, service.schedules_,
                service.ports_.messages, [&service] { return service.broker_.consuming; },
                [&service] {
                    return 2 * service.settings_.trigger.unshelve_interval +
                           service.settings_.cull.deadline;
                },
                [this](const ServerId& server) { return returns.asked_for(server); },
                [&service, this] {
                    return service.ports_.messages.serving() != 0 && service.journal_is_ours() &&
                           !safeguards.paused_reason() && !service.stopping_;
                },
                coordinator, service.stopping_}),
      returns({service.ports_.cloud, service.ports_.journal,
               [&service] {
                   const auto& shelve = service.settings_.policy->configured.shelve;
                   return ShelveRules{shelve}.none() ? 0 : shelve.returns_per_hour;
               },
               [&service, this] {
                   return service.ports_.messages.serving() != 0 && service.journal_is_ours() &&
                          refresher.built() && !safeguards.paused_reason() &&
                          coordinator.in_flight() == 0 && gateway.counts().held == 0 &&
                          !service.stopping_;
               },
               [&service] { return service.scheduler_rules(); },
               [&service, this](const Request& request) {
                   reservations.update_ledger();
                   const SchedulerRules rules = service.scheduler_rules();
                   const CloudCache& cache = refresher.cache();
                   const Ledger& ledger = service.rooms_.ledger();
                   const auto there = slots_there(request, cache.index(), ledger, &rules);
                   Amount free = 0;
                   std::set<HostId> hosts;
                   for (const HostSlots& host : there) {
                       free += host.at_once;
                       if (host.at_once > 0) hosts.insert(host.host);
                   }
                   const bool fits = free >= request.slots &&
                                     stays_below_marks(*service.settings_.policy, request, there,
                                                       cache.hosts(), ledger);
                   return fits ? hosts : std::set<HostId>{};
               }}),
      images({service.ports_.cloud, service.ports_.journal,
              [&service, this] {
                  return !ShelveRules{service.settings_.policy->configured.shelve}.none() &&
                         service.ports_.messages.serving() != 0 && service.journal_is_ours() &&
                         !safeguards.paused_reason() && !service.stopping_;
              }}),
      ended_loans({service.ports_.cloud.clock, service.settings_.trigger, service.ports_.messages,
                   coordinator, service.stopping_}),
      oversubscription(
          {service.cloud_, service.ports_.journal, service.ports_.messages, service.ports_.metrics,
           refresher, service.rooms_.ledger(), service.settings_, coordinator,
           [&service] { return service.settings_.dry_run ? 1 : service.ports_.messages.serving(); },
           [&service] { return service.journal_is_ours(); },
           [this] { return safeguards.paused_reason().has_value(); }, service.stopping_}),
      duties(
          {service.cloud_.clock, service.ports_.journal, refresher, oversubscription.corrections(),
           service.rooms_.ledger(), service.settings_,
           [&service] { return service.settings_.dry_run ? 1 : service.ports_.messages.serving(); },
           [&service, this] {
               return safeguards.paused_reason().has_value() || !service.believes_clock();
           }}),
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
                                 refresher.kept_by_nova());
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
    journal_answered_ = clock_.steady();
    auto fed = co_await parts_->safeguards.restore();
    if (!fed) co_return fed.error();
    auto lives = co_await parts_->lives.restore();
    if (!lives) co_return lives.error();
    auto labels = co_await parts_->labels.restore(ports_.journal);
    if (!labels) co_return labels.error();
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
    while (!stopping_ || active_ > 0) {
        co_await parts_->idle.async_receive(asio::use_awaitable);
        // It serves as soon as it has the messages.
        if (displaced_) co_await ports_.messages.stop();
    }
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

bool RunningService::may_be_cut_off() const {
    // What the journal has of requests that can't be served yet, the next start finds there.
    if (!serves() || !parts_->refresher.built()) return true;
    return in_flight() == 0 && !rooms_.ledger().promises_anything() &&
           !parts_->gateway.is_needed() && parts_->reserver.size() == 0 && escrow_.size() == 0;
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

/// Each call reports that our credentials are refused: one line is logged, at a start by the start
/// itself. True: the caller need not log it.
bool RunningService::handle_refusal(const Error& why) {
    if (why.code != Errc::unauthorized) return false;
    if ((cloud_answered_ || preparing_) && parts_->probe.refused())
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

}  // namespace reaper

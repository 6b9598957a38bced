#include "reaper/daemon/service.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <spdlog/spdlog.h>
#include <utility>
#include <variant>

#include "reaper/runtime/async.hpp"
#include "reaper/model/text.hpp"
#include "reaper/controllers/freed_room_tracker.hpp"
#include "reaper/runtime/backoff.hpp"
#include "reaper/controllers/safeguard_controller.hpp"
#include "reaper/runtime/watched_clock.hpp"
#include "reaper/cloud_reader/cache_refresher.hpp"
#include "reaper/requests/coordinator.hpp"
#include "reaper/controllers/inventory_reserver.hpp"
#include "reaper/controllers/server_labels.hpp"
#include "reaper/triggers/unshelve.hpp"

namespace reaper {

namespace asio = boost::asio;

class Service::Impl : public std::enable_shared_from_this<Service::Impl> {
public:
    Impl(ServicePorts ports, ServiceOptions options, std::function<void(ServiceStatus)> on_status);

    ResultTask<void> run();
    void stop();
    void reload(ServiceOptions options);
    std::optional<ServiceView> view() const;

private:
    struct Shared {
        Shared(const asio::any_io_executor& executor, int deletions_at_a_time)
            : planning(executor, 1), deletions(executor, deletions_at_a_time), idle(executor, 1) {}
        AsyncSemaphore planning;
        AsyncSemaphore deletions;
        asio::experimental::channel<void(boost::system::error_code)> idle;
    };

    // Life.
    void listen_to_messages();
    void listen_to_events();
    void on_events(std::vector<CloudEvent> events);
    Task<void> watch_clock();
    Task<void> wait_for_cloud();
    Task<std::optional<Error>> cloud_trouble();
    void report();
    std::size_t in_hand() const { return desk_ ? desk_->in_hand() : 0; }
    void spawn(Task<void> task);

    WatchedClock clock_;
    ServicePorts ports_;  ///< with that clock
    ServiceOptions options_;
    std::function<void(ServiceStatus)> on_status_;

    asio::any_io_executor executor_;
    std::unique_ptr<Shared> shared_;
    Ledger ledger_;
    ScheduleMemory schedules_;
    bool stopping_ = false;
    std::unique_ptr<PictureKeeper> keeper_;
    std::unique_ptr<Braking> braking_;
    std::unique_ptr<AftermathWatch> aftermaths_;
    std::unique_ptr<RoomHolds> holds_;
    std::unique_ptr<ServerMarks> marks_;
    std::unique_ptr<RequestDesk> desk_;
    std::unique_ptr<UnshelveWatch> unshelves_;
    std::size_t active_ = 0;  ///< coroutines that must end before we do
    bool cloud_answered_ = false;
    BrokerState broker_;
};

namespace {

CloudPorts with_clock(const CloudPorts& cloud, Clock& clock) {
    return {cloud.identity, cloud.compute, cloud.placement, cloud.images, clock};
}

}  // namespace

Service::Impl::Impl(ServicePorts ports, ServiceOptions options,
                    std::function<void(ServiceStatus)> on_status)
    : clock_(ports.cloud.clock),
      ports_{with_clock(ports.cloud, clock_), ports.journal, ports.messages, ports.events,
             ports.pause},
      options_(std::move(options)),
      on_status_(std::move(on_status)) {
    if (!options_.picture.events) ports_.events = nullptr;
}

// ---- life ----

ResultTask<void> Service::Impl::run() {
    executor_ = co_await asio::this_coro::executor;
    shared_ = std::make_unique<Shared>(executor_, options_.cull.max_parallel_deletions);
    config::LivePicture picture = options_.picture;
    picture.events = ports_.events != nullptr;
    keeper_ = std::make_unique<PictureKeeper>(executor_, ports_.cloud, picture, options_.policy,
                                              stopping_, [this] { report(); });
    braking_ = std::make_unique<Braking>(
        Braking::Parts{ports_.cloud.clock, ports_.journal, ports_.pause, stopping_},
        options_.policy->brakes, [this](Task<void> task) { spawn(std::move(task)); },
        [this] { report(); });
    auto fed = co_await braking_->restore();
    if (!fed) co_return fed.error();
    marks_ = std::make_unique<ServerMarks>(
        ServerMarks::Parts{ports_.cloud, *keeper_, options_, stopping_});
    aftermaths_ = std::make_unique<AftermathWatch>(
        AftermathWatch::Parts{ports_.cloud, ports_.journal, ledger_, *keeper_, stopping_},
        [this](const Request& request, const Aftermath& aftermath) {
            braking_->on_aftermath(request, aftermath);
        },
        [this](const std::vector<HostId>& hosts, const Request& request) {
            braking_->on_doubt(hosts, request);
        },
        [this](const ServerId& server) { marks_->served(server); });
    holds_ = std::make_unique<RoomHolds>(
        RoomHolds::Parts{ports_.cloud, ports_.journal, ledger_, stopping_});
    if (!options_.dry_run) {
        auto left = co_await holds_->restore();
        if (!left) co_return left.error();
    }
    desk_ = std::make_unique<RequestDesk>(
        RequestDesk::Parts{ports_.cloud, ports_.journal, ports_.messages, *braking_, *aftermaths_,
                           *holds_, *keeper_, ledger_, shared_->planning, shared_->deletions,
                           schedules_, options_, stopping_},
        [this](Task<void> task) { spawn(std::move(task)); }, [this] { report(); });
    auto restored = co_await desk_->restore();
    if (!restored) co_return restored.error();
    listen_to_messages();
    listen_to_events();
    spawn(keeper_->run());
    spawn(braking_->run());
    spawn(aftermaths_->run());
    spawn(holds_->run());
    if (!options_.dry_run) spawn(marks_->run());
    spawn(watch_clock());
    UnshelveWatch::Parts shelved{ports_.cloud,
                                 ports_.messages,
                                 options_.trigger,
                                 schedules_,
                                 [this] { return broker_.consuming; },
                                 stopping_};
    unshelves_ = std::make_unique<UnshelveWatch>(std::move(shelved));
    if (!options_.dry_run) spawn(unshelves_->run());  // it publishes, if only to our own queue
    spawn(wait_for_cloud());
    while (!stopping_ || active_ > 0) co_await shared_->idle.async_receive(asio::use_awaitable);
    co_await holds_->give_all_back();
    co_await ports_.messages.stop();
    if (ports_.events != nullptr) co_await ports_.events->stop();
    co_return Result<void>{};
}

void Service::Impl::listen_to_messages() {
    // Weak: a source that outlives us must not keep us alive beyond the executor.
    const std::weak_ptr<Impl> weak = weak_from_this();
    MessageSource::Handlers handlers;
    handlers.message = [weak](Delivery delivery) {
        if (const auto self = weak.lock()) self->desk_->on_message(std::move(delivery));
    };
    handlers.state = [weak](BrokerState state) {
        const auto self = weak.lock();
        if (!self) return;
        const bool again = state.consuming && !self->broker_.consuming;
        self->broker_ = std::move(state);
        if (again && self->unshelves_) self->unshelves_->on_connection();
        self->report();
    };
    ports_.messages.start(std::move(handlers));
}

void Service::Impl::listen_to_events() {
    if (ports_.events == nullptr) return;
    const std::weak_ptr<Impl> weak = weak_from_this();
    EventSource::Handlers handlers;
    handlers.events = [weak](std::vector<CloudEvent> events) {
        if (const auto self = weak.lock()) self->on_events(std::move(events));
    };
    handlers.state = [weak](EventFeedState state) {
        if (const auto self = weak.lock()) self->keeper_->on_feed(state);
    };
    ports_.events->start(std::move(handlers));
}

/// Searches for hosts are remembered, everything else changes the picture.
void Service::Impl::on_events(std::vector<CloudEvent> events) {
    const TimePoint now = ports_.cloud.clock.now();
    std::erase_if(events, [&](CloudEvent& event) {
        auto* const schedule = std::get_if<Schedule>(&event);
        if (schedule == nullptr) return false;
        schedules_.note(std::move(*schedule), now);
        return true;
    });
    if (!events.empty()) keeper_->on_events(std::move(events));
}

Task<void> Service::Impl::watch_clock() {
    constexpr Duration between_clock_checks{1000};
    while (!stopping_) {
        co_await sleep_unless(stopping_, ports_.cloud.clock, between_clock_checks);
        const auto by = clock_.step();
        if (!by) continue;
        Mark mark;
        mark.kind = "clock-stepped";
        mark.reason = "the wall clock was set " +
                      std::string{*by > Duration{} ? "forward" : "back"} + " by " +
                      std::to_string(std::abs(by->count())) + " ms";
        mark.at = ports_.cloud.clock.now();
        spdlog::warn("{}; promises move with it, and the cloud is read anew", mark.reason);
        ledger_.shift(*by);
        keeper_->on_clock_step(*by);
        braking_->brakes().shift(*by);
        auto noted = co_await ports_.journal.note_mark(std::move(mark));
        if (!noted) spdlog::error("not journalled: {}", noted.error().what);
    }
}

void Service::Impl::stop() {
    if (stopping_) return;
    stopping_ = true;
    if (in_hand() > 0) spdlog::info("stopping: finishing {} requests in hand first", in_hand());
    report();
    if (shared_) shared_->idle.try_send(boost::system::error_code{});
}

void Service::Impl::reload(ServiceOptions options) {
    const bool dry_run = options_.dry_run;  // fixed at the start
    const config::LivePicture picture = options_.picture;
    options_ = std::move(options);
    options_.dry_run = dry_run;
    options_.picture = picture;
    if (keeper_) keeper_->reload(options_.policy);
    if (braking_) braking_->reload(options_.policy->brakes);
}

std::optional<ServiceView> Service::Impl::view() const {
    if (!keeper_ || !keeper_->built()) return std::nullopt;
    return ServiceView{keeper_->picture(), ledger_, *options_.policy};
}

/// Why the cloud can't be worked with now; none if it answers.
Task<std::optional<Error>> Service::Impl::cloud_trouble() {
    TagQuestions questions = options_.policy->questions();
    auto facts = co_await read_tag_facts(ports_.cloud, std::move(questions));
    if (!facts) co_return facts.error();
    auto services = co_await ports_.cloud.compute.compute_services();
    if (!services) co_return services.error();
    auto providers = co_await ports_.cloud.placement.providers();
    if (!providers) co_return providers.error();
    co_return std::nullopt;
}

Task<void> Service::Impl::wait_for_cloud() {
    Backoff backoff{ports_.cloud.clock, std::chrono::seconds{30}};
    while (!stopping_) {
        const auto trouble = co_await cloud_trouble();
        if (!trouble) {
            cloud_answered_ = true;
            report();
            co_return;
        }
        // Many quick tries with a wrong password could lock the account.
        if (trouble->code == Errc::unauthorized) backoff.slow_down();
        spdlog::error("the cloud does not answer as it should, trying again: {}", trouble->what);
        co_await backoff.pause(stopping_);
    }
}

void Service::Impl::report() {
    ServiceStatus status;
    status.ready = broker_.consuming && cloud_answered_;
    const std::string held = "requests in hand: " + std::to_string(in_hand());
    const auto thrown = braking_ ? braking_->thrown() : std::nullopt;
    if (stopping_)
        status.line = "stopping; " + held;
    else if (!broker_.consuming && broker_.detail.empty())
        status.line = "starting";
    else if (!broker_.consuming)
        status.line = "waiting for the broker: " + broker_.detail;
    else if (!cloud_answered_)
        status.line = "waiting for the cloud";
    else
        status.line = (thrown ? printable(*thrown) : std::string{"listening"}) + "; " + held +
                      ", served: " + std::to_string(desk_ ? desk_->served() : 0) +
                      "; picture: " + (keeper_ ? keeper_->status() : "none");
    if (on_status_) on_status_(std::move(status));
}

void Service::Impl::spawn(Task<void> task) {
    ++active_;
    asio::co_spawn(executor_, std::move(task),
                   [self = shared_from_this()](std::exception_ptr error) {
                       --self->active_;
                       if (self->active_ == 0 && self->stopping_)
                           self->shared_->idle.try_send(boost::system::error_code{});
                       // A broken invariant: die, and let the journal resume what was under way.
                       if (error) std::rethrow_exception(error);
                   });
}

// ---- the face ----

Service::Service(ServicePorts ports, ServiceOptions options,
                 std::function<void(ServiceStatus)> on_status)
    : impl_(std::make_shared<Impl>(ports, std::move(options), std::move(on_status))) {}

Service::~Service() = default;

ResultTask<void> Service::run() {
    return impl_->run();
}
void Service::stop() {
    impl_->stop();
}
void Service::reload(ServiceOptions options) {
    impl_->reload(std::move(options));
}
std::optional<ServiceView> Service::view() const {
    return impl_->view();
}

}  // namespace reaper

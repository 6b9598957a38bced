#include "reaper/service/service.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <spdlog/spdlog.h>
#include <utility>
#include <variant>

#include "reaper/executor/async.hpp"
#include "reaper/service/intake.hpp"
#include "reaper/service/journalled_ledger.hpp"
#include "reaper/service/picture_keeper.hpp"
#include "reaper/service/request_server.hpp"
#include "reaper/service/requester.hpp"
#include "reaper/service/until_written.hpp"

namespace reaper {

namespace asio = boost::asio;

class Service::Impl : public std::enable_shared_from_this<Service::Impl> {
public:
    Impl(CloudPorts cloud, Journal& journal, MessageSource& messages, EventSource* events,
         ServiceOptions options, std::function<void(ServiceStatus)> on_status);

    ResultTask<void> run();
    void stop();
    void reload(ServiceOptions options);

private:
    struct Shared {
        Shared(const asio::any_io_executor& executor, int deletions_at_a_time)
            : planning(executor, 1), deletions(executor, deletions_at_a_time), idle(executor, 1) {}
        AsyncSemaphore planning;
        AsyncSemaphore deletions;
        asio::experimental::channel<void(boost::system::error_code)> idle;
    };

    // Requests.
    Task<void> handle(FailureNotice notice, RequestId key);
    Task<bool> served_before(FailureNotice notice, RequestId key);
    Task<std::optional<Outcome>> outcome_of(FailureNotice notice, RequestId key);
    ResultTask<std::variant<Request, Refused>> complete(FailureNotice notice);
    Task<bool> admit(Request request);
    Task<bool> finish(RequestId key, Outcome outcome);
    Task<void> close(RequestId key, std::optional<Outcome> outcome);

    // Life.
    ResultTask<void> restore();
    Task<void> resume(Story story);
    void listen_to_events();
    Task<void> wait_for_cloud();
    Task<std::optional<Error>> cloud_trouble();
    void report();
    void spawn(Task<void> task);
    Workshop workshop() {
        return Workshop{
            cloud_, journal_, ledger_, *keeper_, shared_->planning, shared_->deletions, stopping_};
    }

    CloudPorts cloud_;
    Journal& journal_;
    MessageSource& messages_;
    EventSource* events_;  ///< null: none
    ServiceOptions options_;
    std::function<void(ServiceStatus)> on_status_;

    asio::any_io_executor executor_;
    std::unique_ptr<Shared> shared_;
    Ledger ledger_;
    bool stopping_ = false;
    std::unique_ptr<PictureKeeper> keeper_;
    Intake intake_;
    std::size_t active_ = 0;  ///< coroutines that must end before we do
    std::uint64_t served_ = 0;
    bool cloud_answered_ = false;
    BrokerState broker_;
};

namespace {

Operation operation_of(FailureEvent event) {
    switch (event) {
        case FailureEvent::build_instances: return Operation::build;
        case FailureEvent::migrate_server: return Operation::migrate;
        case FailureEvent::rebuild_server: return Operation::rebuild;
    }
    return Operation::build;
}

/// A request as far as the notice alone tells, to journal one that is not served.
Request bare_request(const FailureNotice& notice, const RequestId& key) {
    Request request;
    request.id = key;
    request.operation = operation_of(notice.event);
    request.project = notice.project;
    request.slots = notice.num_instances;
    request.requesters.push_back(notice.server);
    request.sent_at = notice.sent_at;
    if (notice.flavor) {
        const auto resources = resources_of(*notice.flavor, !notice.image_id);
        if (const auto* known = std::get_if<Resources>(&resources)) request.resources = *known;
    }
    return request;
}

}  // namespace

Service::Impl::Impl(CloudPorts cloud, Journal& journal, MessageSource& messages,
                    EventSource* events, ServiceOptions options,
                    std::function<void(ServiceStatus)> on_status)
    : cloud_(cloud),
      journal_(journal),
      messages_(messages),
      events_(options.picture.events ? events : nullptr),
      options_(std::move(options)),
      on_status_(std::move(on_status)),
      intake_(
          Intake::Parts{cloud_.clock, journal_, messages_, options_.trigger, stopping_},
          [this](Task<void> task) { spawn(std::move(task)); },
          [this](FailureNotice notice, RequestId key) {
              report();
              spawn(handle(std::move(notice), std::move(key)));
          }) {}

// ---- life ----

ResultTask<void> Service::Impl::run() {
    executor_ = co_await asio::this_coro::executor;
    shared_ = std::make_unique<Shared>(executor_, options_.cull.max_parallel_deletions);
    config::LivePicture picture = options_.picture;
    picture.events = events_ != nullptr;
    keeper_ = std::make_unique<PictureKeeper>(executor_, cloud_, picture, options_.policy,
                                              stopping_, [this] { report(); });
    auto restored = co_await restore();
    if (!restored) co_return restored.error();

    MessageSource::Handlers handlers;
    // Weak: a source that outlives us must not keep us alive beyond the executor.
    const std::weak_ptr<Impl> weak = weak_from_this();
    handlers.message = [weak](Delivery delivery) {
        if (const auto self = weak.lock()) self->intake_.on_message(std::move(delivery));
    };
    handlers.state = [weak](BrokerState state) {
        const auto self = weak.lock();
        if (!self) return;
        self->broker_ = std::move(state);
        self->report();
    };
    messages_.start(std::move(handlers));
    listen_to_events();
    spawn(keeper_->run());
    spawn(wait_for_cloud());
    while (!stopping_ || active_ > 0) co_await shared_->idle.async_receive(asio::use_awaitable);
    co_await messages_.stop();
    if (events_ != nullptr) co_await events_->stop();
    co_return Result<void>{};
}

void Service::Impl::listen_to_events() {
    if (events_ == nullptr) return;
    const std::weak_ptr<Impl> weak = weak_from_this();
    EventSource::Handlers handlers;
    handlers.events = [weak](std::vector<CloudEvent> events) {
        if (const auto self = weak.lock()) self->keeper_->on_events(std::move(events));
    };
    handlers.state = [weak](EventFeedState state) {
        if (const auto self = weak.lock()) self->keeper_->on_feed(state);
    };
    events_->start(std::move(handlers));
}

void Service::Impl::stop() {
    if (stopping_) return;
    stopping_ = true;
    if (intake_.in_hand() > 0)
        spdlog::info("stopping: finishing {} requests in hand first", intake_.in_hand());
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
}

/// Why the cloud can't be worked with now; none if it answers.
Task<std::optional<Error>> Service::Impl::cloud_trouble() {
    TagQuestions questions = options_.policy->questions();
    auto facts = co_await read_tag_facts(cloud_, std::move(questions));
    if (!facts) co_return facts.error();
    auto services = co_await cloud_.compute.compute_services();
    if (!services) co_return services.error();
    auto providers = co_await cloud_.placement.providers();
    if (!providers) co_return providers.error();
    co_return std::nullopt;
}

Task<void> Service::Impl::wait_for_cloud() {
    Backoff backoff{cloud_.clock, std::chrono::seconds{30}};
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
    const std::string in_hand = "requests in hand: " + std::to_string(intake_.in_hand());
    if (stopping_)
        status.line = "stopping; " + in_hand;
    else if (!broker_.consuming && broker_.detail.empty())
        status.line = "starting";
    else if (!broker_.consuming)
        status.line = "waiting for the broker: " + broker_.detail;
    else if (!cloud_answered_)
        status.line = "waiting for the cloud";
    else
        status.line = "listening; " + in_hand + ", served: " + std::to_string(served_) +
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

// ---- requests ----

Task<void> Service::Impl::handle(FailureNotice notice, RequestId key) {
    const bool served = co_await served_before(notice, key);
    if (served) {
        intake_.close(key, true);
        report();
        co_return;
    }
    auto outcome = co_await outcome_of(std::move(notice), key);
    co_await close(key, std::move(outcome));
}

/// Was the request served by a former message? Then this one is noted as a duplicate.
Task<bool> Service::Impl::served_before(FailureNotice notice, RequestId key) {
    std::optional<Story> known;
    const auto look = [&]() -> ResultTask<void> {
        auto story = co_await journal_.story(key);
        if (!story) co_return story.error();
        known = std::move(*story);
        co_return Result<void>{};
    };
    const bool looked = co_await until_written(cloud_.clock, stopping_, key.str(), look);
    if (!looked) co_return false;
    if (!known || !known->outcome) co_return false;
    MessageEntry entry = entry_for(notice, key, cloud_.clock.now());
    entry.verdict = "duplicate";
    entry.reason =
        "the request was served already: " + std::string{to_string(known->outcome->kind)};
    spdlog::info("{}: message duplicate: {}", key.str(), entry.reason);
    const auto write = [&]() { return journal_.note_message(entry); };
    co_return co_await until_written(cloud_.clock, stopping_, key.str(), write);
}

/// None: stopping, or nothing can be journalled: the message stays unacknowledged.
Task<std::optional<Outcome>> Service::Impl::outcome_of(FailureNotice notice, RequestId key) {
    if (stopping_) co_return std::nullopt;
    auto completed = co_await complete(notice);
    if (!completed && stopping_) co_return std::nullopt;
    Request request = bare_request(notice, key);
    Outcome outcome{OutcomeKind::failed, {}, cloud_.clock.now()};
    const bool whole = completed && std::holds_alternative<Request>(*completed);
    if (whole) {
        request = std::get<Request>(std::move(*completed));
    } else if (completed) {
        outcome.kind = OutcomeKind::refused;
        outcome.reason = std::get<Refused>(*completed).reason;
    } else {
        outcome.reason = "nobody died: " + completed.error().what;
    }
    const bool admitted = co_await admit(request);
    if (!admitted) co_return std::nullopt;
    if (!whole) co_return outcome;
    RequestServer server{workshop(), options_, std::move(request)};
    co_return co_await server.serve();
}

/// Nova's own word on the requester, asked until it answers or the notice is too old.
ResultTask<std::variant<Request, Refused>> Service::Impl::complete(FailureNotice notice) {
    Backoff backoff{cloud_.clock};
    while (true) {
        auto completed = co_await complete_request(cloud_.compute, notice);
        if (completed || stopping_) co_return completed;
        if (too_old(notice, cloud_.clock.now(), options_.trigger.max_age))
            co_return completed.error();
        spdlog::warn("{}: Nova does not tell about the requester, trying again: {}",
                     notice.request_id.str(), completed.error().what);
        co_await backoff.pause(stopping_);
    }
}

Task<bool> Service::Impl::admit(Request request) {
    const auto write = [&]() -> ResultTask<void> {
        auto admitted = co_await journal_.admit(request, cloud_.clock.now());
        if (!admitted) co_return admitted.error();
        co_return Result<void>{};
    };
    co_return co_await until_written(cloud_.clock, stopping_, request.id.str(), write);
}

Task<void> Service::Impl::close(RequestId key, std::optional<Outcome> outcome) {
    bool journalled = false;
    if (outcome) {
        Request with_all;
        with_all.id = key;
        with_all.requesters = intake_.joined(key);
        // Known by now: this only adds requesters.
        if (!with_all.requesters.empty()) co_await admit(std::move(with_all));
        journalled = co_await finish(key, *outcome);
    }
    intake_.close(key, journalled);
    report();
}

Task<bool> Service::Impl::finish(RequestId key, Outcome outcome) {
    const auto write = [&]() { return journal_.finish(key, outcome); };
    const bool written = co_await until_written(cloud_.clock, stopping_, key.str(), write);
    if (!written) co_return false;
    ++served_;
    const bool keep = outcome.kind == OutcomeKind::freed || outcome.kind == OutcomeKind::incomplete;
    if (keep)
        ledger_.settle(key, outcome.at, outcome.at + options_.cull.promise);
    else
        ledger_.release(key);
    spdlog::info("{}: outcome {}: {}", key.str(), to_string(outcome.kind), outcome.reason);
    co_return true;
}

// ---- after a restart ----

ResultTask<void> Service::Impl::restore() {
    auto recent = co_await journal_.finished_since(cloud_.clock.now() - options_.cull.promise);
    if (!recent) co_return recent.error();
    auto unfinished = co_await journal_.unfinished();
    if (!unfinished) co_return unfinished.error();
    ledger_ = ledger_of(*unfinished, *recent, options_.cull.promise);
    for (auto& story : *unfinished) {
        intake_.hold(story.request.id);
        spawn(resume(std::move(story)));
    }
    co_return Result<void>{};
}

Task<void> Service::Impl::resume(Story story) {
    const RequestId key = story.request.id;
    RequestServer server{workshop(), options_, story.request};
    auto outcome = co_await server.resume(std::move(story));
    co_await close(key, std::move(outcome));
}

// ---- the face ----

Service::Service(CloudPorts cloud, Journal& journal, MessageSource& messages, EventSource* events,
                 ServiceOptions options, std::function<void(ServiceStatus)> on_status)
    : impl_(std::make_shared<Impl>(cloud, journal, messages, events, std::move(options),
                                   std::move(on_status))) {}

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

}  // namespace reaper

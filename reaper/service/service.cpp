#include "reaper/service/service.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <map>
#include <set>
#include <spdlog/spdlog.h>
#include <utility>
#include <variant>

#include "clients/amqp/nova_notification.hpp"
#include "reaper/executor/async.hpp"
#include "reaper/model/text.hpp"
#include "reaper/service/request_server.hpp"
#include "reaper/service/requester.hpp"

namespace reaper {

namespace asio = boost::asio;

/// Deliveries that wait for the outcome of one request.
using Tickets = std::set<DeliveryTicket>;

class Service::Impl : public std::enable_shared_from_this<Service::Impl> {
public:
    Impl(CloudPorts cloud, Journal& journal, MessageSource& messages, ServiceOptions options,
         std::function<void(ServiceStatus)> on_status)
        : cloud_(cloud),
          journal_(journal),
          messages_(messages),
          options_(std::move(options)),
          on_status_(std::move(on_status)) {}

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

    // Messages.
    void on_message(Delivery delivery);
    Task<void> note_and_acknowledge(MessageEntry entry, DeliveryTicket ticket);
    Task<void> note_and_set_aside(MessageEntry entry, Delivery delivery);
    void on_notice(FailureNotice notice, DeliveryTicket ticket);

    // Requests.
    Task<void> handle(FailureNotice notice, RequestId key);
    Task<std::optional<Outcome>> outcome_of(FailureNotice notice, RequestId key);
    Task<std::optional<Outcome>> admit_and_serve(Request request, std::optional<Refused> refused);
    ResultTask<std::variant<Request, Refused>> complete(FailureNotice notice);
    Task<void> resume(Story story);
    ResultTask<void> restore();
    void restore_promise(const Story& story);
    Task<void> close(RequestId key, std::optional<Outcome> outcome);
    Task<bool> finish(RequestId key, Outcome outcome);

    // Life.
    Task<void> wait_for_cloud();
    void report();
    void spawn(Task<void> task);
    Workshop workshop() {
        return Workshop{cloud_,   journal_, ledger_, shared_->planning, shared_->deletions,
                        stopping_};
    }

    CloudPorts cloud_;
    Journal& journal_;
    MessageSource& messages_;
    ServiceOptions options_;
    std::function<void(ServiceStatus)> on_status_;

    asio::any_io_executor executor_;
    std::unique_ptr<Shared> shared_;
    Ledger ledger_;
    std::map<RequestId, Tickets> in_hand_;
    std::size_t active_ = 0;  ///< coroutines that must end before we do
    std::uint64_t served_ = 0;
    bool stopping_ = false;
    bool cloud_answered_ = false;
    BrokerState broker_;
};

namespace {

/// Tries a write to the journal until it succeeds: without it, nothing may be acknowledged.
/// False: stopping, and it still fails.
template <class Write>
Task<bool> until_written(Clock& clock, const bool& stopping, std::string what, Write write) {
    Backoff backoff{clock, std::chrono::seconds{30}};
    while (true) {
        auto written = co_await write();
        if (written) co_return true;
        spdlog::error("{}: not journalled, so not acknowledged; trying again: {}", what,
                      written.error().what);
        if (stopping) co_return false;
        co_await backoff.pause(stopping);
    }
}

/// A request as far as the notice alone tells, to journal one that is not served.
Request bare_request(const FailureNotice& notice, const RequestId& key) {
    Request request;
    request.id = key;
    switch (notice.event) {
        case FailureEvent::build_instances: request.operation = Operation::build; break;
        case FailureEvent::migrate_server: request.operation = Operation::migrate; break;
        case FailureEvent::rebuild_server: request.operation = Operation::rebuild; break;
    }
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

MessageEntry entry_for(const FailureNotice& notice, const RequestId& key, TimePoint at) {
    MessageEntry entry;
    entry.message_id = notice.message_id;
    switch (notice.event) {
        case FailureEvent::build_instances:
            entry.event_type = "compute_task.build_instances.error";
            break;
        case FailureEvent::migrate_server:
            entry.event_type = "compute_task.migrate_server.error";
            break;
        case FailureEvent::rebuild_server:
            entry.event_type = "compute_task.rebuild_server.error";
            break;
    }
    entry.request = key;
    entry.at = at;
    return entry;
}

}  // namespace

// ---- life ----

ResultTask<void> Service::Impl::run() {
    executor_ = co_await asio::this_coro::executor;
    shared_ = std::make_unique<Shared>(executor_, options_.cull.max_parallel_deletions);
    auto restored = co_await restore();
    if (!restored) co_return restored.error();

    MessageSource::Handlers handlers;
    const auto self = shared_from_this();
    handlers.message = [self](Delivery delivery) { self->on_message(std::move(delivery)); };
    handlers.state = [self](BrokerState state) {
        self->broker_ = std::move(state);
        self->report();
    };
    messages_.start(std::move(handlers));
    spawn(wait_for_cloud());
    while (!stopping_ || active_ > 0) co_await shared_->idle.async_receive(asio::use_awaitable);
    co_await messages_.stop();
    co_return Result<void>{};
}

void Service::Impl::stop() {
    if (stopping_) return;
    stopping_ = true;
    if (!in_hand_.empty())
        spdlog::info("stopping: finishing {} requests in hand first", in_hand_.size());
    report();
    if (shared_) shared_->idle.try_send(boost::system::error_code{});
}

void Service::Impl::reload(ServiceOptions options) {
    const bool dry_run = options_.dry_run;  // fixed at the start
    options_ = std::move(options);
    options_.dry_run = dry_run;
}

Task<void> Service::Impl::wait_for_cloud() {
    Backoff backoff{cloud_.clock, std::chrono::seconds{30}};
    while (!stopping_) {
        auto facts = co_await read_tag_facts(cloud_, options_.policy->questions());
        std::optional<Error> error;
        if (!facts) error = facts.error();
        if (!error) {
            auto services = co_await cloud_.compute.compute_services();
            if (!services) error = services.error();
        }
        if (!error) {
            auto providers = co_await cloud_.placement.providers();
            if (!providers) error = providers.error();
        }
        if (!error) {
            cloud_answered_ = true;
            report();
            co_return;
        }
        spdlog::error("the cloud does not answer as it should, trying again: {}", error->what);
        co_await backoff.pause(stopping_);
    }
}

void Service::Impl::report() {
    ServiceStatus status;
    status.ready = broker_.consuming && cloud_answered_;
    if (stopping_)
        status.line = "stopping; requests in hand: " + std::to_string(in_hand_.size());
    else if (!broker_.consuming)
        status.line = "waiting for the broker: " + broker_.detail;
    else if (!cloud_answered_)
        status.line = "waiting for the cloud";
    else
        status.line = "listening; requests in hand: " + std::to_string(in_hand_.size()) +
                      ", served: " + std::to_string(served_);
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

// ---- messages ----

void Service::Impl::on_message(Delivery delivery) {
    if (stopping_) return;  // not acknowledged: the next reaper gets it
    const TimePoint now = cloud_.clock.now();
    auto parsed = parse_notification(delivery.body);
    if (auto* notice = std::get_if<FailureNotice>(&parsed)) {
        on_notice(std::move(*notice), delivery.ticket);
        return;
    }
    MessageEntry entry;
    entry.at = now;
    if (auto* ignored = std::get_if<Ignored>(&parsed)) {
        entry.message_id = ignored->message_id;
        entry.event_type = ignored->event_type;
        entry.verdict = "ignored";
        entry.reason = ignored->reason;
        spdlog::debug("message {} ({}) ignored: {}", printable(entry.message_id),
                      printable(entry.event_type), entry.reason);
        spawn(note_and_acknowledge(std::move(entry), delivery.ticket));
    } else {
        entry.verdict = "malformed";
        entry.reason = std::get<Malformed>(parsed).reason;
        spdlog::warn("a message can't be understood, setting it aside: {}", entry.reason);
        spawn(note_and_set_aside(std::move(entry), std::move(delivery)));
    }
}

void Service::Impl::on_notice(FailureNotice notice, DeliveryTicket ticket) {
    const TimePoint now = cloud_.clock.now();
    const RequestId key = request_key(notice);
    MessageEntry entry = entry_for(notice, key, now);
    if (const auto known = in_hand_.find(key); known != in_hand_.end()) {
        known->second.insert(ticket);
        spdlog::debug("{}: message {} joins it", key.str(), printable(notice.message_id));
        return;
    }
    if (auto reason = too_old(notice, now, options_.trigger.max_age)) {
        entry.verdict = "too-old";
        entry.reason = std::move(*reason);
        spdlog::info("{}: dropped: {}", key.str(), entry.reason);
        spawn(note_and_acknowledge(std::move(entry), ticket));
        return;
    }
    in_hand_[key].insert(ticket);
    report();
    spawn(handle(std::move(notice), key));
}

Task<void> Service::Impl::note_and_acknowledge(MessageEntry entry, DeliveryTicket ticket) {
    const std::string what = "message " + printable(entry.message_id);
    const auto write = [&]() { return journal_.note_message(entry); };
    if (co_await until_written(cloud_.clock, stopping_, what, write)) messages_.acknowledge(ticket);
}

Task<void> Service::Impl::note_and_set_aside(MessageEntry entry, Delivery delivery) {
    const std::string reason = entry.reason;
    const auto write = [&]() { return journal_.note_message(entry); };
    if (co_await until_written(cloud_.clock, stopping_, "a malformed message", write))
        messages_.set_aside(std::move(delivery), reason);
}

// ---- requests ----

Task<void> Service::Impl::handle(FailureNotice notice, RequestId key) {
    auto outcome = co_await outcome_of(std::move(notice), key);
    co_await close(key, std::move(outcome));
}

/// None: stopping, or the journal can't be read: the message stays unacknowledged.
Task<std::optional<Outcome>> Service::Impl::outcome_of(FailureNotice notice, RequestId key) {
    std::optional<Story> known;
    const auto look = [&]() -> ResultTask<void> {
        auto story = co_await journal_.story(key);
        if (!story) co_return story.error();
        known = std::move(*story);
        co_return Result<void>{};
    };
    if (!co_await until_written(cloud_.clock, stopping_, key.str(), look)) co_return std::nullopt;
    if (known && known->outcome) {
        MessageEntry entry = entry_for(notice, key, cloud_.clock.now());
        entry.verdict = "duplicate";
        entry.reason =
            "the request was served already: " + std::string{to_string(known->outcome->kind)};
        spdlog::info("{}: {}", key.str(), entry.reason);
        const auto write = [&]() { return journal_.note_message(entry); };
        if (!co_await until_written(cloud_.clock, stopping_, key.str(), write))
            co_return std::nullopt;
        co_return known->outcome;
    }
    auto completed = co_await complete(notice);
    std::optional<Refused> refused;
    Request request = bare_request(notice, key);
    if (!completed) {
        if (stopping_) co_return std::nullopt;
        Outcome failed{OutcomeKind::failed, "nobody died: " + completed.error().what,
                       cloud_.clock.now()};
        auto admitted = co_await journal_.admit(request, failed.at);
        if (!admitted) co_return std::nullopt;
        co_return failed;
    }
    if (auto* whole = std::get_if<Request>(&*completed))
        request = std::move(*whole);
    else
        refused = std::get<Refused>(std::move(*completed));
    co_return co_await admit_and_serve(std::move(request), std::move(refused));
}

Task<std::optional<Outcome>> Service::Impl::admit_and_serve(Request request,
                                                            std::optional<Refused> refused) {
    const auto write = [&]() -> ResultTask<void> {
        auto admitted = co_await journal_.admit(request, cloud_.clock.now());
        if (!admitted) co_return admitted.error();
        co_return Result<void>{};
    };
    if (!co_await until_written(cloud_.clock, stopping_, request.id.str(), write))
        co_return std::nullopt;
    if (refused) {
        spdlog::info("{}: refused: {}", request.id.str(), refused->reason);
        co_return Outcome{OutcomeKind::refused, refused->reason, cloud_.clock.now()};
    }
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

Task<void> Service::Impl::close(RequestId key, std::optional<Outcome> outcome) {
    bool journalled = false;
    if (outcome) journalled = co_await finish(key, *outcome);
    auto node = in_hand_.extract(key);
    if (journalled && !node.empty())
        for (const auto& ticket : node.mapped()) messages_.acknowledge(ticket);
    report();
}

Task<bool> Service::Impl::finish(RequestId key, Outcome outcome) {
    const auto write = [&]() { return journal_.finish(key, outcome); };
    if (!co_await until_written(cloud_.clock, stopping_, key.str(), write)) co_return false;
    ++served_;
    const bool keep = outcome.kind == OutcomeKind::freed || outcome.kind == OutcomeKind::incomplete;
    if (keep)
        ledger_.settle(key, outcome.at, cloud_.clock.now() + options_.cull.promise);
    else
        ledger_.release(key);
    spdlog::info("{}: outcome {}: {}", key.str(), to_string(outcome.kind), outcome.reason);
    co_return true;
}

// ---- after a restart ----

ResultTask<void> Service::Impl::restore() {
    auto recent = co_await journal_.finished_since(cloud_.clock.now() - options_.cull.promise);
    if (!recent) co_return recent.error();
    for (const auto& story : *recent) restore_promise(story);
    auto unfinished = co_await journal_.unfinished();
    if (!unfinished) co_return unfinished.error();
    for (auto& story : *unfinished) {
        in_hand_[story.request.id];
        spawn(resume(std::move(story)));
    }
    co_return Result<void>{};
}

void Service::Impl::restore_promise(const Story& story) {
    if (!story.outcome || story.outcome->kind != OutcomeKind::freed || story.plans.empty()) return;
    const auto* plan = std::get_if<Plan>(&story.plans.back().decision);
    if (plan == nullptr) return;
    ledger_.enter(story.request, *plan, story.plans.back().at);
    ledger_.settle(story.request.id, story.outcome->at, story.outcome->at + options_.cull.promise);
}

Task<void> Service::Impl::resume(Story story) {
    const RequestId key = story.request.id;
    RequestServer server{workshop(), options_, story.request};
    auto outcome = co_await server.resume(std::move(story));
    co_await close(key, std::move(outcome));
}

// ---- the face ----

Service::Service(CloudPorts cloud, Journal& journal, MessageSource& messages,
                 ServiceOptions options, std::function<void(ServiceStatus)> on_status)
    : impl_(std::make_shared<Impl>(cloud, journal, messages, std::move(options),
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

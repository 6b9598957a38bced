#include "reaper/triggers/nova_failures.hpp"

#include <algorithm>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "reaper/model/text.hpp"
#include "reaper/model/time.hpp"
#include "reaper/notifications/nova_notification.hpp"
#include "reaper/runtime/async.hpp"
#include "reaper/runtime/backoff.hpp"
#include "reaper/runtime/log.hpp"
#include "reaper/runtime/log_about.hpp"
#include "reaper/triggers/requester.hpp"

namespace reaper {
namespace {

namespace asio = boost::asio;

/// Messages that are read one by one at the same time; further ones wait for a list.
constexpr std::size_t most_singly = 16;
/// Messages of one server for which its actions are listed, instead of each action by itself.
constexpr std::size_t many_of_one = 3;
/// Of Nova's clock and ours.
constexpr Duration clocks_differ = std::chrono::minutes{2};
/// Nova records a failure before it reports it; its database may show it that much later.
constexpr Duration written_within = std::chrono::seconds{3};

/// Of a number that is counted as long as it lives.
class Counted {
public:
    explicit Counted(std::size_t& number) : number_(number) { ++number_; }
    Counted& operator=(Counted&&) = delete;
    ~Counted() { --number_; }

private:
    std::size_t& number_;
};

/// Lists in a row that have to say the same; of a fresh message, shortly after each other.
constexpr int lists_of_fresh = 3;
constexpr int lists_of_old = 2;
constexpr Duration between_lists{250};

std::string shown(const ServerId& server) {
    return printable(server.str(), 64);
}

Doubt not_listed(const ServerId& server, Duration since) {
    return {Doubt::Then::refuse, "Nova lists no change of server " + shown(server) +
                                     " in the last " + format_duration(since)};
}

Doubt no_action(const ServerId& server) {
    return {Doubt::Then::refuse,
            "Nova lists no action of server " + shown(server) + " with this request id"};
}

}  // namespace

/// A message that waits for lists; it resumes when they say enough.
struct FailureConfirmer::Waiting {
    Waiting(const asio::any_io_executor& executor, const FailureNotice& notice,
            std::uint64_t number, bool is_fresh)
        : server(notice.server),
          request(notice.request_id),
          arrival(number),
          fresh(is_fresh),
          told(executor, asio::steady_timer::time_point::max()) {}

    void tell() {
        over = true;
        told.cancel();
    }

    const ServerId server;
    const RequestId request;
    const std::uint64_t arrival;
    const bool fresh;
    asio::steady_timer told;  ///< never expires
    bool over = false;
    int denied = 0;              ///< lists that say that it can't be true
    std::optional<Doubt> doubt;  ///< by the last one; none: it has to be read by itself
};

/// A step of the wall clock that is not noticed yet makes nothing old.
TimePoint FailureConfirmer::now() const {
    return std::min(cloud_.clock.now(), cloud_.clock.shown());
}

ResultTask<std::variant<RequesterFacts, Refused>> FailureConfirmer::confirm(FailureNotice notice,
                                                                            std::uint64_t arrival) {
    using Answer = std::variant<RequesterFacts, Refused>;
    const bool fresh = now() - notice.sent_at < written_within;
    const int max_looks = fresh ? 3 : 2;
    Duration pause{250};
    const std::string id = printable(notice.request_id.str());
    for (int look_number = 1;; ++look_number) {
        auto seen = co_await look(notice, arrival, fresh);
        if (!seen) co_return seen.error();
        auto* const facts = std::get_if<RequesterFacts>(&*seen);
        const auto doubt = facts ? why_not_believed(notice, *facts, now(), settings_.max_age)
                                 : std::optional<Doubt>{std::get<Doubt>(*seen)};
        if (!doubt) co_return Answer{std::move(*facts)};
        const bool last = look_number == max_looks;
        if (doubt->then == Doubt::Then::wait && last) {
            Error not_yet{Errc::conflict, doubt->reason};
            co_return not_yet;
        }
        if (doubt->then == Doubt::Then::refuse || last) {
            log_about({.request = id}, spdlog::level::warn, "{}: a message is not believed: {}", id,
                      doubt->reason);
            Refused refused{doubt->reason + ": the message is not believed",
                            std::string{unconfirmed}};
            co_return Answer{std::move(refused)};
        }
        if (fresh) co_await cloud_.clock.sleep(pause);
        pause *= 2;
    }
}

ResultTask<FailureConfirmer::Seen> FailureConfirmer::look(FailureNotice notice,
                                                          std::uint64_t arrival, bool fresh) {
    std::optional<Counted> counted;
    if (!listing_ && singly_ < most_singly) {
        counted.emplace(singly_);
    } else {
        const auto executor = co_await asio::this_coro::executor;
        const auto waiting = std::make_shared<Waiting>(executor, notice, arrival, fresh);
        waiting_.push_back(waiting);
        if (!listing_) {
            listing_ = true;
            spawn_(list_while_some_wait());
        }
        boost::system::error_code ignored;
        while (!waiting->over)
            co_await waiting->told.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
        if (waiting->doubt) co_return Seen{std::move(*waiting->doubt)};
    }
    auto facts = co_await read_failure(cloud_, std::move(notice));
    if (!facts) co_return facts.error();
    co_return Seen{std::move(*facts)};
}

Task<void> FailureConfirmer::list_while_some_wait() {
    while (!waiting_.empty()) {
        const bool news = std::ranges::any_of(
            waiting_, [](const auto& waiting) { return waiting->denied == 0 || !waiting->fresh; });
        if (!news) co_await cloud_.clock.sleep(between_lists);
        Batch batch = std::exchange(waiting_, {});
        std::ranges::sort(batch,
                          [](const auto& a, const auto& b) { return a->arrival > b->arrival; });
        co_await judge(batch);
        for (auto& waiting : batch) {
            // One list may miss a server that goes from one of its pages to another meanwhile.
            const int enough = waiting->fresh ? lists_of_fresh : lists_of_old;
            if (waiting->doubt && ++waiting->denied < enough)
                waiting_.push_back(std::move(waiting));
            else
                waiting->tell();
        }
    }
    listing_ = false;
}

/// By what Nova lists from now on. Where it lists nothing, each is read by itself.
Task<void> FailureConfirmer::judge(const Batch& batch) {
    const Duration back = settings_.max_age + clocks_differ;
    std::set<std::string> any_status;
    auto listed = co_await cloud_.compute.servers_in(std::move(any_status), now() - back);
    if (!listed) {
        spdlog::debug("messages are confirmed one by one: {}", listed.error().what);
        for (const auto& waiting : batch) waiting->doubt.reset();
        co_return;
    }
    std::set<ServerId> changed;
    for (const auto& record : *listed) changed.insert(record.server.id);
    std::map<ServerId, Batch> by_server;
    for (const auto& waiting : batch) {
        waiting->doubt.reset();
        if (changed.contains(waiting->server))
            by_server[waiting->server].push_back(waiting);
        else
            waiting->doubt = not_listed(waiting->server, back);
    }
    std::vector<Task<void>> parts;
    for (auto& [server, of_one] : by_server)
        if (of_one.size() >= many_of_one) parts.push_back(judge_by_actions(std::move(of_one)));
    co_await run_all(std::move(parts));
}

/// Of a server that is there, whose actions say which requests there were.
Task<void> FailureConfirmer::judge_by_actions(Batch of_one) {
    auto actions = co_await cloud_.compute.actions(of_one.front()->server);
    if (!actions) co_return;
    std::set<RequestId> requests;
    for (const auto& action : *actions) requests.insert(action.request);
    for (const auto& waiting : of_one)
        if (!requests.contains(waiting->request)) waiting->doubt = no_action(waiting->server);
}

void NoticeClaims::add(const FailureNotice& notice) {
    if (notice.event != FailureEvent::migrate_server) return;
    flavors_[{notice.request_id, notice.server}].insert(notice.flavor_id);
}

void NoticeClaims::drop(const FailureNotice& notice) {
    const auto at = flavors_.find({notice.request_id, notice.server});
    if (notice.event != FailureEvent::migrate_server || at == flavors_.end()) return;
    const auto flavor = at->second.find(notice.flavor_id);
    if (flavor != at->second.end()) at->second.erase(flavor);
    if (at->second.empty()) flavors_.erase(at);
}

std::optional<std::string> NoticeClaims::contradiction(const FailureNotice& notice) const {
    const auto at = flavors_.find({notice.request_id, notice.server});
    if (at == flavors_.end()) return std::nullopt;
    for (const auto& other : at->second)
        if (other != notice.flavor_id)
            return "its messages name different flavors, '" + printable(notice.flavor_id, 64) +
                   "' and '" + printable(other, 64) + "': none of them is believed";
    return std::nullopt;
}

namespace {

/// Of Nova's clocks and ours.
constexpr Duration clock_difference{60'000};

std::string_view event_type(FailureEvent event) {
    switch (event) {
        case FailureEvent::build_instances: return "compute_task.build_instances.error";
        case FailureEvent::migrate_server: return "compute_task.migrate_server.error";
        case FailureEvent::rebuild_server: return "compute_task.rebuild_server.error";
        case FailureEvent::unshelve_server: return "unshelve";
    }
    return "unknown";
}

Operation operation_of(FailureEvent event) {
    switch (event) {
        case FailureEvent::build_instances: return Operation::build;
        case FailureEvent::migrate_server: return Operation::migrate;
        case FailureEvent::rebuild_server: return Operation::rebuild;
        case FailureEvent::unshelve_server: return Operation::unshelve;
    }
    return Operation::build;
}

/// The request as far as the notice alone shows.
Request bare_request(const FailureNotice& notice, const RequestId& key, TimePoint now,
                     Duration max_age) {
    Request request;
    request.id = key;
    request.operation = operation_of(notice.event);
    request.project = notice.project;
    request.slots = notice.num_instances;
    request.requesters.push_back(notice.server);
    request.source = RequestSource::nova_failure;
    // One from the future would be tried forever.
    request.sent_at = std::min(notice.sent_at, now + clock_difference);
    request.deadline = request.sent_at + max_age;
    if (notice.flavor) {
        const auto resources = resources_of(*notice.flavor, !notice.image_id);
        if (const auto* known = std::get_if<Resources>(&resources)) request.resources = *known;
    }
    return request;
}

/// The broker counts the message as ours.
class MessageLease final : public Lease {
public:
    MessageLease(const MessageSource& messages, DeliveryTicket ticket)
        : messages_(messages), ticket_(ticket) {}
    bool held() const override { return messages_.holds(ticket_); }

private:
    const MessageSource& messages_;
    DeliveryTicket ticket_;
};

}  // namespace

void NovaFailures::on_message(Delivery delivery) {
    if (dependencies_.stopping) return;  // not acknowledged: the next reaper gets it
    auto parsed = delivery.unreadable.empty() ? parse_notification(delivery.body)
                                              : Notification{Malformed{delivery.unreadable}};
    if (auto* notice = std::get_if<FailureNotice>(&parsed))
        on_notice(std::move(*notice), delivery);
    else if (auto* ignored = std::get_if<Ignored>(&parsed))
        on_ignored(std::move(*ignored), delivery.ticket);
    else
        on_malformed(std::get<Malformed>(std::move(parsed)), std::move(delivery));
}

void NovaFailures::on_ignored(Ignored ignored, DeliveryTicket ticket) {
    spdlog::debug("message {} ({}) ignored: {}", printable(ignored.message_id),
                  printable(ignored.event_type), ignored.reason);
    MessageEntry entry;
    entry.message_id = std::move(ignored.message_id);
    entry.event_type = std::move(ignored.event_type);
    entry.verdict = "ignored";
    entry.reason = std::move(ignored.reason);
    entry.at = dependencies_.cloud.clock.now();
    dependencies_.spawn(note_and_acknowledge(std::move(entry), ticket));
}

void NovaFailures::on_malformed(Malformed malformed, Delivery delivery) {
    spdlog::warn("a message can't be understood, setting it aside: {}", malformed.reason);
    MessageEntry entry;
    entry.verdict = "malformed";
    entry.reason = std::move(malformed.reason);
    entry.at = dependencies_.cloud.clock.now();
    dependencies_.spawn(note_and_set_aside(std::move(entry), std::move(delivery)));
}

void NovaFailures::on_notice(FailureNotice notice, const Delivery& delivery) {
    const RequestId key = request_key(notice);
    TriggeredRequest triggered;
    triggered.request =
        bare_request(notice, key, dependencies_.cloud.clock.now(), dependencies_.settings.max_age);
    triggered.event_id = notice.message_id;
    triggered.event_type = event_type(notice.event);
    triggered.maybe_served = delivery.redelivered;
    triggered.had_hosts = notice.exception.starts_with("MaxRetriesExceeded") ||
                          dependencies_.had_hosts(notice.request_id);
    triggered.lease = std::make_shared<MessageLease>(dependencies_.messages, delivery.ticket);
    claims_.add(notice);
    const auto shared = std::make_shared<const FailureNotice>(std::move(notice));
    triggered.complete = [this, shared, arrival = ++arrived_] {
        return complete(*shared, arrival);
    };
    triggered.done = [this, shared, ticket = delivery.ticket](const Outcome&) {
        claims_.drop(*shared);
        dependencies_.messages.acknowledge(ticket);
    };
    dependencies_.sink.submit(std::move(triggered));
}

/// Nova's own word on the requester.
ResultTask<std::variant<Request, Refused>> NovaFailures::complete(FailureNotice notice,
                                                                  std::uint64_t arrival) {
    const Duration max_age = dependencies_.settings.max_age;
    auto search = co_await search_for(notice);
    if (!search) co_return search.error();
    if (*search) {
        const RequestRecord& record = **search;
        std::string as = ", as " + printable(record.request.id.str(), 64);
        if (!record.outcome) co_return Error{Errc::conflict, "the gateway serves it now" + as};
        if (!not_served(record) && !was_only_a_search(record))
            co_return std::variant<Request, Refused>{Refused{"the gateway served it already" + as}};
    }
    auto confirmed = co_await confirmer_.confirm(notice, arrival);
    if (!confirmed) co_return confirmed.error();
    if (auto* const refused = std::get_if<Refused>(&*confirmed))
        co_return std::variant<Request, Refused>{std::move(*refused)};
    auto facts = std::get<RequesterFacts>(std::move(*confirmed));
    std::optional<Schedule> schedule;
    if (facts.exists && !facts.deleting) schedule = co_await schedule_of(notice);
    SchedulerRules rules = dependencies_.scheduler();
    auto completed = co_await finish_request(dependencies_.cloud, notice, std::move(facts),
                                             std::move(schedule), std::move(rules));
    if (!completed) co_return completed;
    auto* const request = std::get_if<Request>(&*completed);
    if (request == nullptr) co_return completed;
    if (auto contradiction = claims_.contradiction(notice)) {
        Refused refused{std::move(*contradiction), std::string{contradicted}};
        co_return std::variant<Request, Refused>{std::move(refused)};
    }
    // It came after its search, whatever Nova's clock says.
    if (*search) request->sent_at = std::max(request->sent_at, (*search)->request.sent_at);
    request->deadline = request->sent_at + max_age;
    co_return completed;
}

/// What the journal has of the gateway's search for it: the gateway knows a request by the id that
/// its user gave, where there is one, as that or as ID~N.
ResultTask<std::optional<RequestRecord>> NovaFailures::search_for(FailureNotice notice) {
    if (notice.global_id.empty() || notice.global_id == notice.request_id)
        co_return std::optional<RequestRecord>{};
    const auto is_its = [&](const Request& request) {
        const auto& requesters = request.requesters;
        return request.source == RequestSource::gateway &&
               std::ranges::find(requesters, notice.server) != requesters.end();
    };
    auto record = co_await dependencies_.journal.record(notice.global_id);
    if (!record || !*record || is_its((*record)->request)) co_return record;
    JournalQuery query;
    query.since = (*record)->received_at;
    query.id_begins = notice.global_id.str() + '~';
    query.server = notice.server.str();
    auto others = co_await dependencies_.journal.find_requests(std::move(query));
    if (!others) co_return others.error();
    const auto at = std::find_if(others->begin(), others->end(),
                                 [&](const auto& each) { return is_its(each.request); });
    if (at == others->end()) co_return std::optional<RequestRecord>{};
    RequestId id = at->request.id;
    co_return co_await dependencies_.journal.record(std::move(id));
}

/// What the scheduler was asked. Its message came before that of the failure, but by another queue:
/// where there must be one, it is waited briefly.
Task<std::optional<Schedule>> NovaFailures::schedule_of(FailureNotice notice) {
    constexpr Duration step{50};
    constexpr int max_steps = 20;
    const std::string_view line = notice.exception_line;
    const bool searched = line.find("There are not enough hosts available") != line.npos ||
                          notice.exception.starts_with("MaxRetriesExceeded");
    for (int i = 0; i <= max_steps && !dependencies_.stopping; ++i) {
        if (const Schedule* const known =
                dependencies_.schedules.find(notice.request_id, notice.spec_server))
            co_return *known;
        if (!searched || !dependencies_.events_flow()) break;
        co_await dependencies_.cloud.clock.sleep(step);
    }
    co_return std::nullopt;
}

Task<bool> NovaFailures::note(MessageEntry entry) {
    const std::string what = "message " + printable(entry.message_id);
    const auto write = [&]() { return dependencies_.journal.note_message(entry); };
    co_return co_await retry_until_journaled(dependencies_.cloud.clock, dependencies_.stopping,
                                             what, write);
}

Task<void> NovaFailures::note_and_acknowledge(MessageEntry entry, DeliveryTicket ticket) {
    const bool noted = co_await note(std::move(entry));
    if (noted) dependencies_.messages.acknowledge(ticket);
}

Task<void> NovaFailures::note_and_set_aside(MessageEntry entry, Delivery delivery) {
    std::string reason = entry.reason;
    const bool noted = co_await note(std::move(entry));
    if (noted) dependencies_.messages.set_aside(std::move(delivery), std::move(reason));
}

}  // namespace reaper

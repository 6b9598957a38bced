#include "reaper/triggers/nova_failures.hpp"

#include <algorithm>
#include <memory>
#include <spdlog/spdlog.h>
#include <string_view>
#include <utility>

#include "reaper/model/text.hpp"
#include "reaper/notifications/nova_notification.hpp"
#include "reaper/request_spec/request_builder.hpp"
#include "reaper/runtime/retry.hpp"
#include "reaper/triggers/requester.hpp"

namespace reaper {
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
    auto served = co_await served_by_gateway(notice);
    if (!served) co_return served.error();
    if (*served) co_return std::variant<Request, Refused>{std::move(**served)};
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
    request->deadline = request->sent_at + max_age;
    co_return completed;
}

/// The gateway knows a request by the id that its user gave, where there is one.
ResultTask<std::optional<Refused>> NovaFailures::served_by_gateway(FailureNotice notice) {
    if (notice.global_id.empty() || notice.global_id == notice.request_id)
        co_return std::optional<Refused>{};
    auto record = co_await dependencies_.journal.record(notice.global_id);
    if (!record) co_return record.error();
    if (!*record || (*record)->request.source != RequestSource::gateway || (*record)->plans.empty())
        co_return std::optional<Refused>{};
    const auto& requesters = (*record)->request.requesters;
    if (std::find(requesters.begin(), requesters.end(), notice.server) == requesters.end())
        co_return std::optional<Refused>{};
    co_return std::optional<Refused>{
        Refused{"the gateway served it already, as " + printable(notice.global_id.str(), 64)}};
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

#include "reaper/triggers/nova_failures.hpp"

#include <algorithm>
#include <spdlog/spdlog.h>
#include <string_view>
#include <utility>
#include <variant>

#include "reaper/notifications/nova_notification.hpp"
#include "reaper/model/text.hpp"
#include "reaper/runtime/retry.hpp"
#include "reaper/request_spec/request_builder.hpp"

namespace reaper {
namespace {

std::string_view event_type(FailureEvent event) {
    switch (event) {
        case FailureEvent::build_instances: return "compute_task.build_instances.error";
        case FailureEvent::migrate_server: return "compute_task.migrate_server.error";
        case FailureEvent::rebuild_server: return "compute_task.rebuild_server.error";
        case FailureEvent::unshelve_server: return "reaper.unshelve.error";
    }
    return "unknown";
}

}  // namespace

MessageEntry entry_for(const FailureNotice& notice, const RequestId& key, TimePoint at) {
    MessageEntry entry;
    entry.message_id = notice.message_id;
    entry.event_type = event_type(notice.event);
    entry.request = key;
    entry.at = at;
    return entry;
}

Intake::Intake(Parts parts, Spawn spawn, NewRequest new_request)
    : parts_(parts), spawn_(std::move(spawn)), new_request_(std::move(new_request)) {}

void Intake::on_message(Delivery delivery) {
    if (parts_.stopping) return;  // not acknowledged: the next reaper gets it
    auto parsed = parse_notification(delivery.body);
    if (auto* notice = std::get_if<FailureNotice>(&parsed))
        on_notice(std::move(*notice), delivery.ticket, delivery.redelivered);
    else if (auto* ignored = std::get_if<Ignored>(&parsed))
        on_ignored(std::move(*ignored), delivery.ticket);
    else
        on_malformed(std::get<Malformed>(std::move(parsed)), std::move(delivery));
}

void Intake::on_ignored(Ignored ignored, DeliveryTicket ticket) {
    spdlog::debug("message {} ({}) ignored: {}", printable(ignored.message_id),
                  printable(ignored.event_type), ignored.reason);
    MessageEntry entry;
    entry.message_id = std::move(ignored.message_id);
    entry.event_type = std::move(ignored.event_type);
    entry.verdict = "ignored";
    entry.reason = std::move(ignored.reason);
    entry.at = parts_.clock.now();
    spawn_(note_and_acknowledge(std::move(entry), ticket));
}

void Intake::on_malformed(Malformed malformed, Delivery delivery) {
    spdlog::warn("a message can't be understood, setting it aside: {}", malformed.reason);
    MessageEntry entry;
    entry.verdict = "malformed";
    entry.reason = std::move(malformed.reason);
    entry.at = parts_.clock.now();
    spawn_(note_and_set_aside(std::move(entry), std::move(delivery)));
}

void Intake::on_notice(FailureNotice notice, DeliveryTicket ticket, bool redelivered) {
    const TimePoint now = parts_.clock.now();
    const RequestId key = request_key(notice);
    MessageEntry entry = entry_for(notice, key, now);
    if (const auto known = in_hand_.find(key); known != in_hand_.end()) {
        join(known->second, notice, std::move(entry), ticket);
        return;
    }
    if (auto reason = too_old(notice, now, parts_.settings.max_age)) {
        entry.verdict = "too-old";
        entry.reason = std::move(*reason);
        spdlog::info("{}: dropped: {}", key.str(), entry.reason);
        spawn_(note_and_acknowledge(std::move(entry), ticket));
        return;
    }
    InHand& request = in_hand_[key];
    request.tickets.insert(ticket);
    request.messages.insert(notice.message_id);
    new_request_(std::move(notice), key, redelivered);
}

/// It is acknowledged with the request that it joins.
void Intake::join(InHand& request, const FailureNotice& notice, MessageEntry entry,
                  DeliveryTicket ticket) {
    request.tickets.insert(ticket);
    const bool again = !request.messages.insert(notice.message_id).second;
    entry.verdict = again ? "duplicate" : "joined";
    entry.reason = again ? "delivered again while its request is served"
                         : "server " + notice.server.str() + " waits for the same request";
    if (!again) request.joined.push_back(notice.server);
    spdlog::info("{}: message {}: {}", entry.request.str(), entry.verdict, entry.reason);
    spawn_(note_joined(std::move(entry)));
}

std::vector<ServerId> Intake::joined(const RequestId& key) const {
    const auto at = in_hand_.find(key);
    return at == in_hand_.end() ? std::vector<ServerId>{} : at->second.joined;
}

bool Intake::holds(const RequestId& key) const {
    const auto at = in_hand_.find(key);
    if (at == in_hand_.end()) return false;
    const auto& tickets = at->second.tickets;
    return std::any_of(tickets.begin(), tickets.end(),
                       [&](const DeliveryTicket& ticket) { return parts_.messages.holds(ticket); });
}

void Intake::close(const RequestId& key, bool journalled) {
    const auto node = in_hand_.extract(key);
    if (!journalled || node.empty()) return;
    for (const auto& ticket : node.mapped().tickets) parts_.messages.acknowledge(ticket);
}

Task<bool> Intake::note(MessageEntry entry) {
    const std::string what = "message " + printable(entry.message_id);
    const auto write = [&]() { return parts_.journal.note_message(entry); };
    co_return co_await until_written(parts_.clock, parts_.stopping, what, write);
}

Task<void> Intake::note_joined(MessageEntry entry) {
    co_await note(std::move(entry));
}

Task<void> Intake::note_and_acknowledge(MessageEntry entry, DeliveryTicket ticket) {
    const bool noted = co_await note(std::move(entry));
    if (noted) parts_.messages.acknowledge(ticket);
}

Task<void> Intake::note_and_set_aside(MessageEntry entry, Delivery delivery) {
    std::string reason = entry.reason;
    const bool noted = co_await note(std::move(entry));
    if (noted) parts_.messages.set_aside(std::move(delivery), std::move(reason));
}

}  // namespace reaper

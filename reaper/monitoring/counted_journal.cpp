#include "reaper/monitoring/counted_journal.hpp"

#include <chrono>
#include <utility>

namespace reaper::monitoring {

namespace {

template <class T>
ResultTask<T> timed(JournalCounters& counters, ResultTask<T> write) {
    const auto start = std::chrono::steady_clock::now();
    auto written = co_await std::move(write);
    const auto took = std::chrono::steady_clock::now() - start;
    std::optional<std::string> trouble;
    if (!written) trouble = written.error().what;
    counters.wrote(took, std::move(trouble));
    co_return written;
}

}  // namespace

ResultTask<Admission> CountedJournal::admit(Request request, TimePoint now) {
    const RequestId id = request.id;
    const RequestSource source = request.source;
    const TimePoint sent_at = request.sent_at;
    auto write = inner_.admit(std::move(request), now);
    auto written = co_await timed(counters_, std::move(write));
    if (written && written->first) counters_.admitted(id, source, sent_at, now);
    co_return written;
}

ResultTask<void> CountedJournal::admit_anew(Request request, TimePoint now) {
    const RequestId id = request.id;
    const RequestSource source = request.source;
    const TimePoint sent_at = request.sent_at;
    auto write = inner_.admit_anew(std::move(request), now);
    auto written = co_await timed(counters_, std::move(write));
    if (written) counters_.admitted(id, source, sent_at, now);
    co_return written;
}

ResultTask<void> CountedJournal::admit_ended(Request request, Outcome outcome, TimePoint now) {
    const RequestId id = request.id;
    const RequestSource source = request.source;
    const Outcome counted = outcome;
    auto write = inner_.admit_ended(std::move(request), std::move(outcome), now);
    auto written = co_await timed(counters_, std::move(write));
    if (written) counters_.ended_at_once(id, source, counted);
    co_return written;
}

ResultTask<void> CountedJournal::add_plan(RequestId id, PlanEntry plan) {
    const RequestId of = id;
    const PlanEntry counted = plan;
    auto write = inner_.add_plan(std::move(id), std::move(plan));
    auto written = co_await timed(counters_, std::move(write));
    if (written) counters_.planned(of, counted);
    co_return written;
}

ResultTask<void> CountedJournal::add_step(RequestId id, StepEntry step) {
    const RequestId of = id;
    const StepEntry counted = step;
    auto write = inner_.add_step(std::move(id), std::move(step));
    auto written = co_await timed(counters_, std::move(write));
    if (written) counters_.stepped(of, counted);
    co_return written;
}

ResultTask<void> CountedJournal::finish(RequestId id, Outcome outcome) {
    const RequestId of = id;
    const Outcome counted = outcome;
    auto write = inner_.finish(std::move(id), std::move(outcome));
    auto written = co_await timed(counters_, std::move(write));
    if (written) counters_.ended(of, counted);
    co_return written;
}

ResultTask<void> CountedJournal::note_message(MessageEntry message) {
    const MessageEntry counted = message;
    auto write = inner_.note_message(std::move(message));
    auto written = co_await timed(counters_, std::move(write));
    if (written) counters_.noted(counted);
    co_return written;
}

ResultTask<void> CountedJournal::note_freed_room(RequestId id, FreedRoomResult freed_room) {
    const RequestId of = id;
    const FreedRoomResult counted = freed_room;
    auto write = inner_.note_freed_room(std::move(id), std::move(freed_room));
    auto written = co_await timed(counters_, std::move(write));
    if (written) counters_.freed_room(of, counted);
    co_return written;
}

ResultTask<void> CountedJournal::note_event(JournalEvent event) {
    const JournalEvent counted = event;
    auto write = inner_.note_event(std::move(event));
    auto written = co_await timed(counters_, std::move(write));
    if (written) counters_.noted(counted);
    co_return written;
}

/// What a former process left goes on here.
ResultTask<std::vector<RequestRecord>> CountedJournal::unfinished() {
    auto records = co_await inner_.unfinished();
    if (records)
        for (const RequestRecord& record : *records) counters_.read_back(record);
    co_return records;
}

ResultTask<std::vector<RequestRecord>> CountedJournal::culls_between(TimePoint since,
                                                                     TimePoint until) {
    auto records = co_await inner_.culls_between(since, until);
    if (records)
        for (const RequestRecord& record : *records) counters_.read_back(record);
    co_return records;
}

ResultTask<std::vector<RequestSummary>> CountedJournal::list(int limit) {
    return inner_.list(limit);
}

ResultTask<std::vector<RequestSummary>> CountedJournal::find_requests(JournalQuery query) {
    return inner_.find_requests(std::move(query));
}

ResultTask<std::vector<VictimEntry>> CountedJournal::find_victims(JournalQuery query) {
    return inner_.find_victims(std::move(query));
}

ResultTask<KnownValues> CountedJournal::known_values(JournalQuery query) {
    return inner_.known_values(std::move(query));
}

ResultTask<std::vector<ChosenServer>> CountedJournal::chosen(std::string server, int limit) {
    return inner_.chosen(std::move(server), limit);
}

ResultTask<std::optional<RequestRecord>> CountedJournal::record(RequestId id) {
    return inner_.record(std::move(id));
}

ResultTask<std::vector<MessageEntry>> CountedJournal::find_messages(JournalQuery query) {
    return inner_.find_messages(std::move(query));
}

ResultTask<std::vector<VictimEntry>> CountedJournal::victims_since(TimePoint since) {
    return inner_.victims_since(since);
}

ResultTask<std::vector<RequestRecord>> CountedJournal::freed_rooms_since(TimePoint since) {
    return inner_.freed_rooms_since(since);
}

ResultTask<std::vector<JournalEvent>> CountedJournal::events(int limit) {
    return inner_.events(limit);
}

ResultTask<std::vector<JournalEvent>> CountedJournal::find_events(JournalQuery query) {
    return inner_.find_events(std::move(query));
}

ResultTask<JournalTotals> CountedJournal::totals(TimePoint since) {
    return inner_.totals(since);
}

ResultTask<void> CountedJournal::note_protection(ServerProtection protection) {
    return timed(counters_, inner_.note_protection(std::move(protection)));
}

ResultTask<void> CountedJournal::end_protection(ServerId server) {
    return timed(counters_, inner_.end_protection(std::move(server)));
}

ResultTask<std::vector<ServerProtection>> CountedJournal::protections() {
    return inner_.protections();
}

ResultTask<void> CountedJournal::add_hold(InventoryHold hold) {
    return timed(counters_, inner_.add_hold(std::move(hold)));
}

ResultTask<void> CountedJournal::end_hold(ProviderId provider, ResourceClass resource_class,
                                          InventoryHoldEnd end) {
    return timed(counters_,
                 inner_.end_hold(std::move(provider), std::move(resource_class), std::move(end)));
}

ResultTask<std::vector<InventoryHold>> CountedJournal::holds() {
    return inner_.holds();
}

ResultTask<std::int64_t> CountedJournal::note_order(OrderRecord order) {
    return timed(counters_, inner_.note_order(std::move(order)));
}

ResultTask<std::optional<OrderRecord>> CountedJournal::order(std::string principal,
                                                             std::string key) {
    return inner_.order(std::move(principal), std::move(key));
}

ResultTask<std::vector<OrderRecord>> CountedJournal::orders(int limit) {
    return inner_.orders(limit);
}

ResultTask<void> CountedJournal::note_reservations(std::vector<KnownReservation> there,
                                                   std::vector<ReservationId> gone) {
    return timed(counters_, inner_.note_reservations(std::move(there), std::move(gone)));
}

ResultTask<std::vector<KnownReservation>> CountedJournal::reservations() {
    return inner_.reservations();
}

}  // namespace reaper::monitoring

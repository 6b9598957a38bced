#include "reaper/requests/record_feed.hpp"

#include <utility>

namespace reaper {
namespace {

/// Ends what `map` has under that number, if it is still there.
template <class Map>
std::function<void()> ending(const std::shared_ptr<Map>& map, std::uint64_t number) {
    return [weak = std::weak_ptr<Map>{map}, number] {
        if (const auto known = weak.lock()) known->erase(number);
    };
}

}  // namespace

std::unique_ptr<RecordFeed::Subscription> RecordFeed::listen(Listener listener) {
    const std::uint64_t number = ++last_number_;
    listeners_->emplace(number, std::move(listener));
    return std::make_unique<Subscription>(ending(listeners_, number));
}

std::unique_ptr<RecordFeed::Subscription> RecordFeed::watch(Watcher watcher) {
    const std::uint64_t number = ++last_number_;
    watchers_->emplace(number, std::move(watcher));
    return std::make_unique<Subscription>(ending(watchers_, number));
}

/// A listener may end its subscription, or another's, while it is told.
void RecordFeed::tell(const RequestId& id, const RecordEvent& event) {
    std::visit([&](const auto& what) { tell(JournalNews{id, what}); }, event);
    const auto found = open_.find(id);
    if (found == open_.end()) return;
    const Request request = found->second;
    const Listeners now = *listeners_;
    for (const auto& [number, listener] : now)
        if (listeners_->contains(number)) listener(request, event);
}

void RecordFeed::tell(const JournalNews& news) {
    const Watchers now = *watchers_;
    for (const auto& [number, watcher] : now)
        if (watchers_->contains(number)) watcher(news);
}

ResultTask<Admission> RecordFeed::admit(Request request, TimePoint now) {
    const JournalNews news{request.id, Admitted{now}};
    open_.try_emplace(request.id, request);
    auto admission = co_await inner_.admit(std::move(request), now);
    if (admission && admission->first) tell(news);
    co_return admission;
}

ResultTask<void> RecordFeed::admit_anew(Request request, TimePoint now) {
    const JournalNews news{request.id, Admitted{now}};
    open_.insert_or_assign(request.id, request);
    auto written = co_await inner_.admit_anew(std::move(request), now);
    if (written) tell(news);
    co_return written;
}

ResultTask<void> RecordFeed::admit_ended(Request request, Outcome outcome, TimePoint now) {
    const RequestId id = request.id;
    const RecordEvent event{outcome};
    open_.insert_or_assign(id, request);
    auto written = co_await inner_.admit_ended(std::move(request), std::move(outcome), now);
    if (written) tell(id, event);
    if (written) open_.erase(id);
    co_return written;
}

ResultTask<void> RecordFeed::add_plan(RequestId id, PlanEntry plan) {
    const RecordEvent event{plan};
    auto written = co_await inner_.add_plan(id, std::move(plan));
    if (written) tell(id, event);
    co_return written;
}

ResultTask<void> RecordFeed::add_step(RequestId id, StepEntry step) {
    const RecordEvent event{step};
    auto written = co_await inner_.add_step(id, std::move(step));
    if (written) tell(id, event);
    co_return written;
}

ResultTask<void> RecordFeed::finish(RequestId id, Outcome outcome) {
    const RecordEvent event{outcome};
    auto written = co_await inner_.finish(id, std::move(outcome));
    if (written) tell(id, event);
    if (written) open_.erase(id);
    co_return written;
}

ResultTask<void> RecordFeed::note_message(MessageEntry message) {
    return inner_.note_message(std::move(message));
}

/// What a former process left is told of from here on.
ResultTask<std::vector<RequestRecord>> RecordFeed::unfinished() {
    auto records = co_await inner_.unfinished();
    if (records)
        for (const auto& record : *records) open_.try_emplace(record.request.id, record.request);
    co_return records;
}

ResultTask<std::vector<RequestRecord>> RecordFeed::culls_between(TimePoint since, TimePoint until) {
    return inner_.culls_between(since, until);
}

ResultTask<std::vector<RequestSummary>> RecordFeed::list(int limit) {
    return inner_.list(limit);
}

ResultTask<std::vector<RequestSummary>> RecordFeed::find_requests(JournalQuery query) {
    return inner_.find_requests(std::move(query));
}

ResultTask<std::vector<VictimEntry>> RecordFeed::find_victims(JournalQuery query) {
    return inner_.find_victims(std::move(query));
}

ResultTask<KnownValues> RecordFeed::known_values(JournalQuery query) {
    return inner_.known_values(std::move(query));
}

ResultTask<std::vector<ChosenServer>> RecordFeed::chosen(std::string server, int limit) {
    return inner_.chosen(std::move(server), limit);
}

ResultTask<std::optional<RequestRecord>> RecordFeed::record(RequestId id) {
    return inner_.record(std::move(id));
}

ResultTask<std::vector<MessageEntry>> RecordFeed::find_messages(JournalQuery query) {
    return inner_.find_messages(std::move(query));
}

ResultTask<void> RecordFeed::note_freed_room(RequestId id, FreedRoomResult freed_room) {
    const RequestId of = id;
    const FreedRoomResult result = freed_room;
    auto written = co_await inner_.note_freed_room(std::move(id), std::move(freed_room));
    if (written && on_freed_room_) on_freed_room_(of, result);
    if (written) tell(JournalNews{of, result});
    co_return written;
}

ResultTask<void> RecordFeed::note_event(JournalEvent event) {
    const JournalNews news{RequestId{}, event};
    auto written = co_await inner_.note_event(std::move(event));
    if (written) tell(news);
    co_return written;
}

ResultTask<std::vector<VictimEntry>> RecordFeed::victims_since(TimePoint since) {
    return inner_.victims_since(since);
}

ResultTask<std::vector<RequestRecord>> RecordFeed::freed_rooms_since(TimePoint since) {
    return inner_.freed_rooms_since(since);
}

ResultTask<std::vector<JournalEvent>> RecordFeed::events(int limit) {
    return inner_.events(limit);
}

ResultTask<std::vector<JournalEvent>> RecordFeed::find_events(JournalQuery query) {
    return inner_.find_events(std::move(query));
}

ResultTask<JournalTotals> RecordFeed::totals(TimePoint since) {
    return inner_.totals(since);
}

ResultTask<void> RecordFeed::note_protection(ServerProtection protection) {
    return inner_.note_protection(std::move(protection));
}

ResultTask<void> RecordFeed::end_protection(ServerId server) {
    return inner_.end_protection(std::move(server));
}

ResultTask<std::vector<ServerProtection>> RecordFeed::protections() {
    return inner_.protections();
}

ResultTask<void> RecordFeed::add_hold(InventoryHold hold) {
    return inner_.add_hold(std::move(hold));
}

ResultTask<void> RecordFeed::end_hold(ProviderId provider, ResourceClass resource_class,
                                      InventoryHoldEnd end) {
    return inner_.end_hold(std::move(provider), std::move(resource_class), std::move(end));
}

ResultTask<std::vector<InventoryHold>> RecordFeed::holds() {
    return inner_.holds();
}

ResultTask<std::int64_t> RecordFeed::note_order(OrderRecord order) {
    return inner_.note_order(std::move(order));
}

ResultTask<std::optional<OrderRecord>> RecordFeed::order(std::string principal, std::string key) {
    return inner_.order(std::move(principal), std::move(key));
}

ResultTask<std::vector<OrderRecord>> RecordFeed::orders(int limit) {
    return inner_.orders(limit);
}

ResultTask<void> RecordFeed::note_reservations(std::vector<KnownReservation> there,
                                               std::vector<ReservationId> gone) {
    return inner_.note_reservations(std::move(there), std::move(gone));
}

ResultTask<std::vector<KnownReservation>> RecordFeed::reservations() {
    return inner_.reservations();
}

}  // namespace reaper

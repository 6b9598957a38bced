#include "reaper/requests/record_feed.hpp"

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

/// A listener may end its subscription, or another's, while it is called.
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

/// From here on, requests of an earlier process are reported.
void RecordFeed::read_back(const RequestRecord& record) {
    if (!record.outcome) open_.try_emplace(record.request.id, record.request);
}

void RecordFeed::admitted(const Request& request, TimePoint now) {
    open_.try_emplace(request.id, request);
    tell(JournalNews{request.id, Admitted{now}});
}

void RecordFeed::already_admitted(const Request& request) {
    open_.try_emplace(request.id, request);
}

void RecordFeed::admitted_again(const Request& request, TimePoint now) {
    open_.insert_or_assign(request.id, request);
    tell(JournalNews{request.id, Admitted{now}});
}

void RecordFeed::ended_at_once(const Request& request, const Outcome& outcome) {
    open_.insert_or_assign(request.id, request);
    ended(request.id, outcome);
}

void RecordFeed::ended(const RequestId& id, const Outcome& outcome) {
    tell(id, outcome);
    open_.erase(id);
}

void RecordFeed::freed_room(const RequestId& id, const FreedRoomResult& result) {
    if (on_freed_room_) on_freed_room_(id, result);
    tell(JournalNews{id, result});
}

}  // namespace reaper

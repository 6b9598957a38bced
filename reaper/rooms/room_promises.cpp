#include "reaper/rooms/room_promises.hpp"

namespace reaper {
namespace {

template <class Index, class Key>
void forget(Index& index, const Key& key, RoomPromises::Number number) {
    const auto at = index.find(key);
    if (at == index.end()) return;
    at->second.erase(number);
    if (at->second.empty()) index.erase(at);
}

}  // namespace

RoomPromises::Number RoomPromises::add(RoomPromise promise) {
    const Number number = next_++;
    on_[promise.host].insert(number);
    of_[promise.request].insert(number);
    if (!promise.group.empty()) of_group_[promise.group].insert(number);
    if (promise.until)
        until_.emplace(*promise.until, number);
    else
        under_way_[promise.project].insert(number);
    all_.emplace_hint(all_.end(), number, std::move(promise));
    return number;
}

RoomPromise RoomPromises::take(Number number) {
    auto node = all_.extract(number);
    RoomPromise promise = std::move(node.mapped());
    forget(on_, promise.host, number);
    forget(of_, promise.request, number);
    if (!promise.group.empty()) forget(of_group_, promise.group, number);
    forget_time_of(promise, number);
    return promise;
}

void RoomPromises::hold_until(Number number, TimePoint until) {
    RoomPromise& promise = all_.at(number);
    forget_time_of(promise, number);
    promise.until = until;
    until_.emplace(until, number);
}

void RoomPromises::shift(Duration by) {
    until_.clear();
    for (auto& [number, promise] : all_) {
        promise.since += by;
        if (!promise.until) continue;
        *promise.until += by;
        until_.emplace(*promise.until, number);
    }
}

/// It is found by its end, or by having none, no more.
void RoomPromises::forget_time_of(const RoomPromise& promise, Number number) {
    if (promise.until)
        until_.erase({*promise.until, number});
    else
        forget(under_way_, promise.project, number);
}

RoomPromises::Numbers RoomPromises::over(TimePoint now) const {
    Numbers over;
    for (const auto& [until, number] : until_) {
        if (now < until) break;
        over.insert(number);
    }
    return over;
}

}  // namespace reaper

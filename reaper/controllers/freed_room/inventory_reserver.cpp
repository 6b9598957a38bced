#include "reaper/controllers/freed_room/inventory_reserver.hpp"

#include <algorithm>

#include "reaper/model/text.hpp"
#include "reaper/model/time.hpp"
#include "reaper/runtime/async.hpp"
#include "reaper/runtime/log.hpp"
#include "reaper/runtime/log_about.hpp"

namespace reaper {
namespace {

constexpr Duration poll_interval{50};
constexpr Duration call_deadline{5000};
constexpr Duration stop_deadline{5000};
constexpr Duration stop_call_deadline{2000};
/// Read or given back side by side.
constexpr std::size_t places_at_a_time = 8;

std::string label(const InventoryHold& hold) {
    return hold.resource_class.str() + " on " + printable(hold.host_name, 64) + " (provider " +
           printable(hold.provider.str(), 64) + ")";
}

/// Of which something is left for new servers.
std::optional<Inventory> open_inventory(const ProviderState& room, const ResourceClass& name) {
    const auto found = room.inventories.find(name);
    if (found == room.inventories.end() || found->second.reserved >= found->second.total)
        return std::nullopt;
    return found->second;
}

}  // namespace

ResultTask<void> InventoryReserver::restore() {
    auto left = co_await dependencies_.journal.holds();
    if (!left) co_return left.error();
    for (auto& hold : *left) {
        spdlog::info(
            "a previous process holds {} for {}: it is given back when no room is promised there",
            label(hold), hold.request.str());
        const Key key{hold.provider, hold.resource_class};
        kept_[key].hold = std::move(hold);
    }
    co_return Result<void>{};
}

// ---- taking ----

Task<void> InventoryReserver::take(RequestId request, std::vector<Place> places) {
    std::vector<Task<void>> all;
    for (auto& place : places) all.push_back(take_one(request, std::move(place)));
    co_await run_all(std::move(all));
}

Task<void> InventoryReserver::take_one(RequestId request, Place place) {
    const Key key{place.provider, place.resource_class};
    while (true) {
        const auto known = kept_.find(key);
        if (known == kept_.end() || !known->second.busy) break;
        co_await dependencies_.cloud.clock.sleep(poll_interval);
    }
    const auto [at, is_new] = kept_.try_emplace(key);
    Kept& kept = at->second;  // no other coroutine erases it while it is busy
    if (kept.sure) co_return;
    kept.busy = true;
    if (is_new) {
        const bool begun = co_await begin(std::move(request), std::move(place), kept);
        if (!begun) {
            kept_.erase(key);
            co_return;
        }
    }
    co_await set(key);
}

/// Journals what is about to be set. False: there is nothing to hold, or it can't be.
Task<bool> InventoryReserver::begin(RequestId request, Place place, Kept& kept) {
    InventoryHold& hold = kept.hold;
    hold.provider = std::move(place.provider);
    hold.resource_class = std::move(place.resource_class);
    hold.host = std::move(place.host);
    hold.host_name = std::move(place.host_name);
    hold.request = std::move(request);
    auto room = co_await dependencies_.cloud.placement.room(hold.provider);
    if (!room) {
        await_open(hold);
        log_about({.request = hold.request.str()}, spdlog::level::warn,
                  "{}: {} is not held for it yet: {}", hold.request.str(), label(hold),
                  room.error().what);
        co_return false;
    }
    const auto found = open_inventory(*room, hold.resource_class);
    if (!found) {
        await_open(hold);
        co_return false;
    }
    hold.before = found->reserved;
    hold.set = found->total;
    hold.since = dependencies_.cloud.clock.now();
    InventoryHold entry = hold;
    auto written = co_await dependencies_.journal.add_hold(std::move(entry));
    if (!written)
        log_about({.request = hold.request.str()}, spdlog::level::warn,
                  "{}: {} is not held for it, because that can't be journalled: {}",
                  hold.request.str(), label(hold), written.error().what);
    co_return written.has_value();
}

Task<void> InventoryReserver::set(Key key) {
    Kept& kept = kept_.at(key);
    ReservedChange change;
    change.provider = key.first;
    change.resource_class = key.second;
    change.from = kept.hold.before;
    change.to = kept.hold.set;
    auto answer =
        co_await dependencies_.cloud.placement.change_reserved(std::move(change), call_deadline);
    if (answer && (follows(kept, answer->found) || answer->done)) {
        kept.sure = true;
        kept.busy = false;
        log_about({.request = kept.hold.request.str()}, spdlog::level::info,
                  "{}: holding {}: reserved {} instead of {}, no new revocable server fits",
                  kept.hold.request.str(), label(kept.hold), kept.hold.set, kept.hold.before);
        co_return;
    }
    std::string why =
        answer ? "another client set reserved to " + std::to_string(answer->found.reserved)
               : answer.error().what;
    log_about({.request = kept.hold.request.str()}, spdlog::level::warn,
              "{}: {} is not held, a new revocable server may take the freed room: {}",
              kept.hold.request.str(), label(kept.hold), why);
    if (answer) await_open(kept.hold);
    if (answer || surely_not_done(answer.error().code))
        co_await end(std::move(key), InventoryHoldEndKind::not_set, std::move(why));
    else
        kept.busy = false;  // it may have been heard: giving it back looks
}

void InventoryReserver::await_open(const InventoryHold& hold) {
    awaited_.insert_or_assign(
        Key{hold.provider, hold.resource_class},
        Awaited{hold.request, {hold.host, hold.host_name, hold.provider, hold.resource_class}});
}

Task<void> InventoryReserver::take_if_open(Key key) {
    ProviderId provider = key.first;
    const auto room = co_await dependencies_.cloud.placement.room(std::move(provider));
    if (!room || !open_inventory(*room, key.second)) co_return;
    auto at = awaited_.extract(key);
    if (at) co_await take_one(std::move(at.mapped().request), std::move(at.mapped().place));
}

// ---- giving back ----

ResultTask<void> InventoryReserver::check() {
    std::erase_if(awaited_, [&](const auto& each) { return !promised(each.second.place.host); });
    std::vector<Task<void>> looks;
    for (const auto& [key, each] : awaited_) looks.push_back(take_if_open(key));
    co_await run_all(std::move(looks), places_at_a_time);
    auto due = idle();
    const Duration now = dependencies_.cloud.clock.steady();
    std::erase_if(due, [&](const Key& key) {
        const Kept& kept = kept_.at(key);
        return kept.retry_at > now || promised(kept.hold.host);
    });
    co_await give_back_all_of(std::move(due), call_deadline);
    co_return Result<void>{};
}

Task<void> InventoryReserver::give_all_back() {
    const Duration until = dependencies_.cloud.clock.steady() + stop_deadline;
    while (!kept_.empty() && dependencies_.cloud.clock.steady() < until) {
        auto all = idle();
        co_await give_back_all_of(std::move(all), stop_call_deadline);
        if (!kept_.empty()) co_await dependencies_.cloud.clock.sleep(poll_interval * 10);
    }
    for (const auto& [key, kept] : kept_)
        spdlog::error(
            "{} stays reserved: the next start of the reaper gives it back; by hand: openstack "
            "resource provider inventory set {} --amend --resource {}:reserved={}",
            label(kept.hold), key.first.str(), key.second.str(), kept.hold.before);
}

Task<void> InventoryReserver::give_back_all_of(std::vector<Key> keys, Duration deadline) {
    std::vector<Task<void>> all;
    for (const Key& key : keys) all.push_back(give_back(key, deadline));
    co_await run_all(std::move(all), places_at_a_time);
}

Task<void> InventoryReserver::give_back(Key key, Duration deadline) {
    const auto at = kept_.find(key);
    if (at == kept_.end() || at->second.busy) co_return;
    Kept& kept = at->second;
    // Room there may have been promised while others were given back.
    if (!dependencies_.stopping && promised(kept.hold.host)) co_return;
    kept.busy = true;
    ReservedChange change;
    change.fence = !std::exchange(kept.sure, false);
    change.provider = key.first;
    change.resource_class = key.second;
    change.from = kept.hold.set;
    change.to = kept.hold.before;
    auto answer =
        co_await dependencies_.cloud.placement.change_reserved(std::move(change), deadline);
    if (answer && follows(kept, answer->found)) {
        kept.busy = false;  // the next look gives it back
    } else if (answer && answer->done) {
        co_await end(std::move(key), InventoryHoldEndKind::given_back, "");
    } else if (answer) {
        co_await end(std::move(key), InventoryHoldEndKind::changed,
                     "another client set reserved to " + std::to_string(answer->found.reserved) +
                         ": it stays");
    } else if (answer.error().code == Errc::not_found) {
        co_await end(std::move(key), InventoryHoldEndKind::gone, answer.error().what);
    } else {
        try_later(kept, answer.error().what);
    }
}

/// Where the total was changed meanwhile, and all of it stayed reserved (`reserved_after`).
bool InventoryReserver::follows(Kept& kept, const Inventory& found) {
    if (found.reserved != found.total || found.total == kept.hold.set) return false;
    kept.hold.before = std::min(kept.hold.before, found.total - 1);
    kept.hold.set = found.total;
    return true;
}

/// It is over, and forgotten once that is journalled.
Task<void> InventoryReserver::end(Key key, InventoryHoldEndKind kind, std::string reason) {
    Kept& kept = kept_.at(key);
    log_about({.request = kept.hold.request.str()},
              kind == InventoryHoldEndKind::changed ? spdlog::level::warn : spdlog::level::info,
              "{}: the hold on {} ended: {}{}", kept.hold.request.str(), label(kept.hold),
              to_string(kind), reason.empty() ? "" : ", " + reason);
    InventoryHoldEnd ending;
    ending.kind = kind;
    ending.reason = std::move(reason);
    ending.at = dependencies_.cloud.clock.now();
    ProviderId provider = key.first;
    ResourceClass resource_class = key.second;
    auto written = co_await dependencies_.journal.end_hold(
        std::move(provider), std::move(resource_class), std::move(ending));
    if (written)
        kept_.erase(key);
    else
        try_later(kept, written.error().what);
}

void InventoryReserver::try_later(Kept& kept, const std::string& what) {
    const Duration pause = kept.pause.next();
    kept.retry_at = dependencies_.cloud.clock.steady() + pause;
    kept.busy = false;
    log_about({.request = kept.hold.request.str()}, spdlog::level::warn,
              "{}: {} is still reserved, trying again in {}: {}", kept.hold.request.str(),
              label(kept.hold), format_duration(pause), what);
}

bool InventoryReserver::promised(const HostId& host) const {
    const TimePoint now = dependencies_.cloud.clock.now();
    const auto promises = dependencies_.ledger.promises_on(host);
    return std::any_of(promises.begin(), promises.end(), [&](const Ledger::Promise* promise) {
        return promise->reservation.empty() && promise->kept() > 0 &&
               (!promise->until || now < *promise->until);
    });
}

std::vector<InventoryReserver::Key> InventoryReserver::idle() const {
    std::vector<Key> keys;
    for (const auto& [key, kept] : kept_)
        if (!kept.busy) keys.push_back(key);
    return keys;
}

}  // namespace reaper

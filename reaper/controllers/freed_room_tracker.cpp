#include "reaper/controllers/freed_room_tracker.hpp"

#include <algorithm>
#include <spdlog/spdlog.h>
#include <utility>

#include "reaper/controllers/room_takers.hpp"
#include "reaper/model/likeness.hpp"
#include "reaper/model/text.hpp"
#include "reaper/request_spec/waiting.hpp"
#include "reaper/runtime/retry.hpp"

namespace reaper {
namespace {

/// Watched at a time; the one that would end first makes room.
constexpr std::size_t max_watched = 20'000;

/// Between a look of Nova's scheduler and the time that its message tells, and between its clock
/// and ours.
constexpr Duration nova_looked_before{500};

/// Nova refused `refused` though the room of `culled` was there: could it have taken it, as far as
/// can be told?
bool disproves(const Request& refused, const Request& culled, TimePoint there_since) {
    return refused.id != culled.id && refused.sent_at > there_since + nova_looked_before &&
           refused.slots <= culled.slots && same_demands(refused, culled);
}

/// Do those for whom the older request was wait for this one by now?
bool ask_anew(const std::vector<ServerId>& older, const Request& request) {
    const auto& now = request.requesters;
    return !older.empty() && std::all_of(older.begin(), older.end(), [&](const ServerId& server) {
        return std::find(now.begin(), now.end(), server) != now.end();
    });
}

// While Nova's events flow, they tell who leaves. Who has not is asked about now and then all the
// same, as an event may be lost:
/// not sooner after it was seen to wait,
constexpr Duration seen_for{300};
/// and for one request no more than these, seen longest ago.
constexpr std::size_t max_asked = 4;
/// For how long it is remembered that a server left.
constexpr Duration left_for = std::chrono::minutes{10};

std::string names(const std::vector<ServerId>& servers) {
    constexpr std::size_t most = 10;
    std::string text;
    for (std::size_t i = 0; i < std::min(most, servers.size()); ++i)
        text += (text.empty() ? "" : ", ") + printable(servers[i].str(), 64);
    if (servers.size() > most) text += " and " + std::to_string(servers.size() - most) + " more";
    return text;
}

}  // namespace

FreedRoomTracker::FreedRoomTracker(Dependencies dependencies, OnFreedRoom on_freed_room,
                                   OnCooldown on_cooldown, OnTaken on_taken)
    : dependencies_(dependencies),
      on_freed_room_(std::move(on_freed_room)),
      on_cooldown_(std::move(on_cooldown)),
      on_taken_(std::move(on_taken)) {}

void FreedRoomTracker::watch_cull(Request request, TimePoint freed_at, Duration for_how_long) {
    Watched watched;
    watched.culled = true;
    watched.since = watched.decided_at = freed_at;
    watched.until = dependencies_.cloud.clock.steady() + for_how_long;
    for (const auto* const promise : dependencies_.rooms.ledger().promises_of(request.id)) {
        watched.hosts.insert(promise->host);
        watched.as_fallback = request.fallback && promise->slot == request.fallback->resources;
        watched.decided_at = std::min(watched.decided_at, promise->since);
    }
    watched.open = watched.hosts;
    note_neighbours(watched);
    watched.there_before = second_tries(request, freed_at);
    dependencies_.rooms.track(request.id);
    if (const auto handed = handed_.extract(request.id)) {
        watched.handed_to = handed.mapped();
        watched.until = Duration::min();
    }
    const RequestId id = request.id;
    heirs_.erase(id);
    watched.request = std::move(request);
    watched_.insert_or_assign(id, std::move(watched));
    if (watched_.size() <= max_watched) return;
    const auto first = std::min_element(
        watched_.begin(), watched_.end(),
        [](const auto& a, const auto& b) { return a.second.until < b.second.until; });
    first->second.until = Duration::min();  // concluded at the next look
}

void FreedRoomTracker::watch_room(Request request, std::vector<HostId> hosts, TimePoint told_at,
                                  Duration for_how_long) {
    if (watched_.size() >= max_watched) return;
    Watched watched;
    watched.since = told_at;
    watched.until = dependencies_.cloud.clock.steady() + for_how_long;
    watched.hosts.insert(hosts.begin(), hosts.end());
    const RequestId id = request.id;
    if (heirs_.erase(id) > 0) {
        // Judged like the cull whose room it is.
        watched.culled = watched.inherited = true;
        watched.decided_at = told_at;
        watched.open = watched.hosts;
        note_neighbours(watched);
        watched.there_before = second_tries(request, told_at);
    }
    watched.request = std::move(request);
    watched_.try_emplace(id, std::move(watched));
}

/// The ledger follows the cache as it is now.
void FreedRoomTracker::observe() {
    if (!dependencies_.refresher.built()) return;
    const CloudCache& cache = dependencies_.refresher.cache();
    dependencies_.rooms.observe([&cache](const HostId& id) { return cache.find(id); },
                                cache.index().changes(), dependencies_.cloud.clock.now());
}

/// What the cache shows of slots that were taken.
void FreedRoomTracker::count_settled() {
    observe();
    for (const auto& settled : dependencies_.rooms.take_settled()) {
        const auto at = watched_.find(settled.request);
        if (settled.taken_by) on_taken_(*settled.taken_by);
        if (at == watched_.end() || !settled.taken_by) continue;
        at->second.takers.push_back(*settled.taken_by);
        // Of several slots on one host: one taken shows that it can be used.
        at->second.open.erase(settled.host);
    }
}

ResultTask<void> FreedRoomTracker::check() {
    count_settled();
    const Duration now = dependencies_.cloud.clock.steady();
    std::vector<RequestId> due;
    for (const auto& [id, watched] : watched_) {
        const bool all = watched.culled &&
                         watched.takers.size() >= std::size_t(std::max(watched.request.slots, 1));
        if (!watched.concluding && (all || now >= watched.until)) due.push_back(id);
    }
    for (auto& id : due) co_await conclude(std::move(id), "");
    std::erase_if(waiting_, [this](const auto& seen) { return settled_since(seen.first); });
    std::erase_if(left_, [now](const auto& left) { return now - left.second > left_for; });
    co_return Result<void>{};
}

Task<bool> FreedRoomTracker::read_again(const Watched& watched) {
    std::vector<HostId> hosts(watched.open.begin(), watched.open.end());
    if (!dependencies_.refresher.built()) co_return false;
    auto read = co_await dependencies_.refresher.read_hosts(std::move(hosts), HostDepth::all);
    if (!read)
        spdlog::debug("{}: what became of its room can't be told yet: {}", watched.request.id.str(),
                      read.error().what);
    count_settled();
    co_return read.has_value();
}

/// `why_now`: what shows that nobody will take the room; empty if its time is over or it is taken.
Task<void> FreedRoomTracker::conclude(RequestId id, std::string why_now) {
    const auto at = watched_.find(id);
    if (at == watched_.end() || at->second.concluding) co_return;
    Watched& watched = at->second;  // nobody else erases it while `concluding`
    watched.concluding = true;
    const auto needed = static_cast<std::size_t>(std::max(watched.request.slots, 1));
    if (watched.culled && !watched.handed_to && watched.takers.size() < needed) {
        const bool read = co_await read_again(watched);
        if (!read) {
            watched.concluding = false;
            co_return;
        }
    }
    Watched ended = std::move(watched);
    watched_.erase(id);
    if (!ended.culled) {
        if (!why_now.empty())
            on_cooldown_(std::vector<HostId>(ended.hosts.begin(), ended.hosts.end()),
                         ended.request);
        co_return;
    }
    const auto left = dependencies_.rooms.untrack(id);
    if (ended.inherited) note_landed(ended);
    std::string where;
    const bool enough = ended.handed_to || 2 * ended.takers.size() >= needed;
    if (!enough) where = co_await found_elsewhere(ended);
    FreedRoomResult freed_room = result_of(ended, needed, where, why_now);
    co_await note(std::move(ended.request), std::move(freed_room));
}

/// What is known by now; `where` its requester found room elsewhere, if it did.
FreedRoomResult FreedRoomTracker::result_of(const Watched& ended, std::size_t needed,
                                            const std::string& where,
                                            const std::string& why_now) const {
    FreedRoomResult result;
    if (ended.handed_to) {
        result.kind = FreedRoomResultKind::handed_over;
        result.reason = *ended.handed_to;
        return result;
    }
    std::string taken;
    if (!ended.takers.empty())
        taken = std::to_string(ended.takers.size()) + " of " + std::to_string(needed) +
                " slots taken, by " + names(ended.takers);
    RoomTakers others;
    const Request asked = ended.as_fallback ? by_fallback(ended.request) : ended.request;
    if (ended.takers.size() < needed)
        for (const auto& id : ended.open) {
            const Host* const host = dependencies_.refresher.cache().find(id);
            const auto known = ended.neighbours.find(id);
            const auto* const neighbours =
                known == ended.neighbours.end() ? nullptr : &known->second;
            const bool nobody =
                host == nullptr || !note_takers(*host, asked, dependencies_.rooms.ledger(),
                                                ended.decided_at, neighbours, others);
            if (nobody) result.untaken.push_back(id);
        }
    if (2 * ended.takers.size() >= needed) {
        result.kind = FreedRoomResultKind::taken;
        result.reason = taken;
    } else if (!where.empty()) {
        result.kind = FreedRoomResultKind::elsewhere;
        result.reason = where;
    } else if (!others.revocable.empty()) {
        result.kind = FreedRoomResultKind::taken_by_revocable;
        result.reason = "new revocable servers took the room first: " + names(others.revocable) +
                        "; where revocable servers hold a class of their own (tagger `resource`), "
                        "freed room is held against them";
    } else if (!others.regular.empty()) {
        result.kind = FreedRoomResultKind::taken_by_regular;
        result.reason = "other regular requests took the room first: " + names(others.regular);
    } else {
        result.kind = FreedRoomResultKind::wasted;
        result.reason = why_now.empty() ? "nobody took the room in time" : why_now;
    }
    if (result.kind != FreedRoomResultKind::taken && !taken.empty())
        result.reason = taken + "; " + result.reason;
    return result;
}

/// Who is on its hosts from before: whoever comes after them may take its room.
void FreedRoomTracker::note_neighbours(Watched& watched) const {
    if (!dependencies_.refresher.built()) return;
    for (const auto& id : watched.hosts) {
        const Host* const host = dependencies_.refresher.cache().find(id);
        if (host == nullptr) continue;
        std::set<ServerId>& neighbours = watched.neighbours[id];
        for (const auto& server : host->servers)
            if (!came_since(server, watched.decided_at)) neighbours.insert(server.id);
    }
}

/// What looks like the request's second try, wherever it is. Nova tells times in whole seconds: one
/// that was there before may be among them.
std::set<ServerId> FreedRoomTracker::second_tries(const Request& request, TimePoint since) const {
    const TimePoint from = std::chrono::floor<std::chrono::seconds>(since);
    std::set<ServerId> found;
    const CloudIndex& index = dependencies_.refresher.cache().index();
    for (const std::uint32_t row : index.order()) {
        if (index.newest(row) < from.time_since_epoch().count()) continue;
        for (const auto& server : index.row(row).host->servers)
            if (server.created >= from && like_a_retry(server, request)) found.insert(server.id);
    }
    return found;
}

/// Where the requester, or what looks like its second try, got room; empty if nowhere.
Task<std::string> FreedRoomTracker::found_elsewhere(const Watched& watched) {
    for (const auto& requester : watched.request.requesters) {
        auto record = co_await dependencies_.cloud.compute.server(requester);
        if (!record || !*record) continue;
        const auto why = why_not_waiting(watched.request, requester, *record);
        if (why && !(*record)->server.host.empty() && (*record)->server.task_state != "deleting")
            co_return *why;
    }
    const auto& takers = watched.takers;
    for (const auto& server : second_tries(watched.request, watched.since))
        if (!watched.there_before.contains(server) &&
            std::find(takers.begin(), takers.end(), server) == takers.end())
            co_return "a like server, " + printable(server.str(), 64) + ", got room elsewhere";
    co_return "";
}

Task<void> FreedRoomTracker::note(Request request, FreedRoomResult freed_room) {
    freed_room.at = dependencies_.cloud.clock.now();
    const bool wasted = freed_room.kind == FreedRoomResultKind::wasted;
    spdlog::log(wasted ? spdlog::level::warn : spdlog::level::info, "{}: freed room {}: {}",
                request.id.str(), to_string(freed_room.kind), freed_room.reason);
    const auto write = [&]() {
        return dependencies_.journal.note_freed_room(request.id, freed_room);
    };
    const bool written = co_await retry_until_journaled(
        dependencies_.cloud.clock, dependencies_.stopping, request.id.str(), write);
    if (written) on_freed_room_(request, freed_room);
}

// ---- like requests ----

/// None if that can't be told.
Task<std::optional<bool>> FreedRoomTracker::somebody_waits(const Request& request) {
    if (request.requesters.empty()) co_return std::nullopt;
    for (const auto& requester : request.requesters) {
        auto record = co_await dependencies_.cloud.compute.server(requester);
        if (!record) co_return std::nullopt;
        if (!why_not_waiting(request, requester, *record)) co_return true;
    }
    co_return false;
}

/// Did it end while somebody looked elsewhere?
bool FreedRoomTracker::settled_since(const RequestId& id) const {
    const auto promises = dependencies_.rooms.ledger().promises_of(id);
    return std::none_of(promises.begin(), promises.end(),
                        [](const auto* promise) { return !promise->until.has_value(); });
}

Task<void> FreedRoomTracker::make_way_for(const Request& request, bool refused) {
    // Nova looked at that room when it refused this request.
    std::vector<RequestId> disproved;
    // Whoever asks for something else by now will not come for it.
    std::vector<RequestId> left;
    for (auto& [id, watched] : watched_) {
        if (refused && disproves(request, watched.request, watched.since)) {
            disproved.push_back(id);
        } else if (id != request.id && ask_anew(watched.request.requesters, request)) {
            left.push_back(id);
        }
    }
    const std::string why =
        "Nova refused " + printable(request.id.str(), 64) + ", which asks for the same";
    for (auto& id : disproved) {
        std::string reason = why;
        co_await conclude(std::move(id), std::move(reason));
    }
    for (auto& id : left) {
        // At once: it may be long until what became of the room can be told.
        dependencies_.rooms.handed_over(id);
        const auto at = watched_.find(id);
        if (at == watched_.end()) continue;
        std::string unused;
        if (serves(at->second, request))
            hand_over(id, request.id, "its server asks anew");
        else if (at->second.culled)
            unused = "its server asks anew, as " + printable(request.id.str(), 64) +
                     ", for something else";
        if (const auto handed = handed_.extract(id)) at->second.handed_to = handed.mapped();
        co_await conclude(std::move(id), std::move(unused));
    }
    co_await take_over(request);
}

void FreedRoomTracker::saw_waiting(const RequestId& request, Duration asked_at) {
    waiting_.insert_or_assign(request, asked_at);
}

void FreedRoomTracker::note_left(const std::vector<CloudEvent>& events) {
    const Duration now = dependencies_.cloud.clock.steady();
    for (const auto& event : events) {
        if (const auto* const gone = std::get_if<ServerGone>(&event))
            left_.insert_or_assign(gone->id, now);
        const auto* const seen = std::get_if<ServerSeen>(&event);
        if (seen == nullptr) continue;
        const Server& server = seen->record.server;
        if (server.soft_deleted() || server.task_state == "deleting")
            left_.insert_or_assign(server.id, now);
    }
}

std::vector<RequestId> FreedRoomTracker::to_ask_about(
    const std::map<RequestId, Request>& under_way) const {
    const Duration now = dependencies_.cloud.clock.steady();
    std::vector<RequestId> ids;
    std::vector<std::pair<Duration, RequestId>> order;
    for (const auto& [id, other] : under_way) {
        // Of a multi-create not all requesters may be known yet.
        if (other.slots > static_cast<int>(other.requesters.size())) continue;
        const bool left = std::any_of(other.requesters.begin(), other.requesters.end(),
                                      [&](const ServerId& each) { return left_.contains(each); });
        if (left || !dependencies_.refresher.flowing()) {
            ids.push_back(id);
            continue;
        }
        const auto seen = waiting_.find(id);
        const Duration when = seen == waiting_.end() ? Duration::min() : seen->second;
        if (seen == waiting_.end() || now - when > seen_for) order.emplace_back(when, id);
    }
    std::sort(order.begin(), order.end());
    if (order.size() > max_asked) order.resize(max_asked);
    for (auto& [when, id] : order) ids.push_back(std::move(id));
    return ids;
}

/// Culls under way whose room is for this request by now: they are for somebody who went away and
/// this one asks for the same, or for the very servers that ask anew.
Task<void> FreedRoomTracker::take_over(const Request& request) {
    std::map<RequestId, Request> under_way;
    std::set<RequestId> asked_anew;
    const auto look = [&](const Ledger::Promise& promise) {
        if (promise.request == request.id) return;
        if (ask_anew(promise.requesters, request)) {
            asked_anew.insert(promise.request);
            return;
        }
        const bool alike = promise.slot == request.resources ||
                           (request.fallback && promise.slot == request.fallback->resources);
        if (!alike) return;
        const auto [at, first] = under_way.try_emplace(promise.request);
        at->second.operation = Operation::resize;  // gone for good counts, not where it runs
        at->second.requesters = promise.requesters;
        at->second.slots = promise.slots + (first ? 0 : at->second.slots);
    };
    dependencies_.rooms.ledger().each_under_way_for(request.project, look);
    for (const auto& id : asked_anew) hand_over(id, request.id, "its server asks anew");
    for (const auto& id : to_ask_about(under_way)) {
        const Duration asked_at = dependencies_.cloud.clock.steady();
        const auto waits = co_await somebody_waits(under_way.at(id));
        if (!waits) continue;
        if (*waits)
            saw_waiting(id, asked_at);
        else if (!settled_since(id))
            hand_over(id, request.id, "its requester went away");
    }
}

/// Is there room for the request where it was freed for another one?
bool FreedRoomTracker::serves(const Watched& watched, const Request& request) const {
    const Shape shape = shape_of(request);
    return watched.culled &&
           std::any_of(watched.open.begin(), watched.open.end(), [&](const HostId& id) {
               const Host* const host = dependencies_.refresher.cache().find(id);
               if (host == nullptr) return false;
               const HostRoom room =
                   room_on(*host, shape, dependencies_.rooms.ledger(), request.id);
               return room.slots(shape, room.room_now()) > 0;
           });
}

/// Who of its requesters, or of what looks like their second try, is on its hosts by now.
void FreedRoomTracker::note_landed(Watched& watched) const {
    const auto& wanted = watched.request.requesters;
    for (const auto& id : watched.hosts) {
        const Host* const host = dependencies_.refresher.cache().find(id);
        if (host == nullptr) continue;
        for (const auto& server : host->servers) {
            const bool asked = std::find(wanted.begin(), wanted.end(), server.id) != wanted.end();
            const bool again = came_since(server, watched.since) &&
                               like_a_retry(server, watched.request) &&
                               !watched.there_before.contains(server.id);
            if (!asked && !again) continue;
            watched.takers.push_back(server.id);
            watched.open.erase(id);
        }
    }
}

void FreedRoomTracker::hand_over(const RequestId& id, const RequestId& to, const std::string& why) {
    spdlog::info("{}: {}; its room goes to {}", id.str(), why, to.str());
    dependencies_.rooms.handed_over(id);
    handed_.insert_or_assign(id, why + "; its room went to " + printable(to.str(), 64));
    if (handed_.size() > max_watched) handed_.erase(handed_.begin());
    heirs_.insert(to);
    if (heirs_.size() > max_watched) heirs_.erase(heirs_.begin());
}

}  // namespace reaper

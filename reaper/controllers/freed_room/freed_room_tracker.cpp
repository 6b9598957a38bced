#include "reaper/controllers/freed_room/freed_room_tracker.hpp"

#include <algorithm>
#include <spdlog/spdlog.h>
#include <utility>

#include "reaper/cloud_reader/requesters.hpp"
#include "reaper/controllers/freed_room/room_takers.hpp"
#include "reaper/model/likeness.hpp"
#include "reaper/model/text.hpp"
#include "reaper/request_spec/waiting.hpp"
#include "reaper/runtime/log_about.hpp"
#include "reaper/runtime/retry.hpp"

namespace reaper {
namespace {

/// For how long it is remembered that a server left.
constexpr Duration left_for = std::chrono::minutes{10};

/// `web-1 (8d3f...)`, or the id alone where it is on none of the hosts by now.
std::string text_of(const ServerId& server, const CloudCache& cache,
                    const std::set<HostId>& hosts) {
    std::string id = printable(server.str(), 64);
    for (const auto& each : hosts) {
        const Host* const host = cache.find(each);
        if (host == nullptr) continue;
        for (const auto& there : host->servers)
            if (there.id == server && !there.name.empty() && there.name != server.str())
                return printable(there.name, 64) + " (" + id + ")";
    }
    return id;
}

std::string names(const std::vector<ServerId>& servers, const CloudCache& cache,
                  const std::set<HostId>& hosts) {
    constexpr std::size_t most = 10;
    std::string text;
    for (std::size_t i = 0; i < std::min(most, servers.size()); ++i)
        text += (text.empty() ? "" : ", ") + text_of(servers[i], cache, hosts);
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
    watched.open = watched.hosts;
    const RequestId id = request.id;
    if (heirs_.erase(id) > 0) {
        // Judged like the cull whose room it is.
        watched.culled = watched.inherited = true;
        watched.decided_at = told_at;
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
        at->second.taken_at.emplace(*settled.taken_by, dependencies_.cloud.clock.now());
        // Of several slots on one host: one taken shows that it can be used.
        at->second.open.erase(settled.host);
    }
}

ResultTask<void> FreedRoomTracker::check() {
    count_settled();
    const Duration now = dependencies_.cloud.clock.steady();
    std::vector<std::pair<RequestId, std::string>> due;
    for (const auto& [id, watched] : watched_) {
        const bool over = watched.all_taken() || now >= watched.until;
        if (!watched.concluding && (over || !watched.why_now.empty()))
            due.emplace_back(id, watched.why_now);
    }
    for (auto& [id, why_now] : due) co_await conclude(std::move(id), std::move(why_now));
    co_await look_who_comes();
    std::erase_if(waiting_, [this](const auto& seen) { return settled_since(seen.first); });
    for (auto* const told : {&left_, &failed_})
        std::erase_if(*told, [now](const auto& each) { return now - each.second > left_for; });
    co_return Result<void>{};
}

Task<bool> FreedRoomTracker::read_again(const Watched& watched) {
    std::vector<HostId> hosts(watched.open.begin(), watched.open.end());
    if (!dependencies_.refresher.built()) co_return false;
    auto read = co_await dependencies_.refresher.read_hosts(std::move(hosts), HostDepth::all);
    if (!read)
        log_about(about(watched.request), spdlog::level::debug,
                  "{}: what became of its room can't be told yet: {}", watched.request.id.str(),
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
    const bool matters = watched.culled || !why_now.empty();
    if (matters && !watched.handed_to && !watched.all_taken()) {
        const bool read = co_await read_again(watched);
        if (!read) {
            watched.concluding = false;
            watched.why_now = std::move(why_now);
            co_return;
        }
    }
    Watched ended = std::move(watched);
    watched_.erase(id);
    if (!ended.culled) {
        if (!why_now.empty() && !ended.all_taken())
            on_cooldown_(std::vector<HostId>(ended.open.begin(), ended.open.end()), ended.request);
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
    const auto told = [&](const std::vector<ServerId>& servers) {
        return names(servers, dependencies_.refresher.cache(), ended.hosts);
    };
    const TimePoint now = dependencies_.cloud.clock.now();
    for (const ServerId& taker : ended.takers) {
        const auto at = ended.taken_at.find(taker);
        result.takers.push_back({taker, at == ended.taken_at.end() ? now : at->second, {}});
    }
    std::string taken;
    if (!ended.takers.empty())
        taken = std::to_string(ended.takers.size()) + " of " + std::to_string(needed) +
                " slots taken, by " + told(ended.takers);
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
            // Whose requester left says nothing against the host.
            if (nobody && !ended.left) result.untaken.push_back(id);
        }
    if (2 * ended.takers.size() >= needed) {
        result.kind = FreedRoomResultKind::taken;
        result.reason = taken;
    } else if (!where.empty()) {
        result.kind = FreedRoomResultKind::elsewhere;
        result.reason = where;
    } else if (!others.revocable.empty()) {
        result.kind = FreedRoomResultKind::taken_by_revocable;
        result.reason = "new revocable servers took the room first: " + told(others.revocable) +
                        "; where revocable servers hold a class of their own (tagger `resource`), "
                        "freed room is held against them";
    } else if (!others.regular.empty()) {
        result.kind = FreedRoomResultKind::taken_by_regular;
        result.reason = "other regular requests took the room first: " + told(others.regular);
    } else {
        result.kind = FreedRoomResultKind::wasted;
        result.reason = !why_now.empty() ? why_now
                        : ended.left     ? "its requester went away, and nobody took the room"
                                         : "nobody took the room in time";
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
    std::vector<ServerId> asked = watched.request.requesters;
    auto records = co_await read_requesters(dependencies_.cloud.compute, std::move(asked));
    for (const auto& [requester, record] : records ? *records : Requesters{}) {
        if (!record) continue;
        const auto why = why_not_waiting(watched.request, requester, record);
        if (why && !record->server.host.empty() && !record->server.being_deleted()) co_return *why;
    }
    const auto& takers = watched.takers;
    for (const auto& server : second_tries(watched.request, watched.since))
        if (!watched.there_before.contains(server) &&
            std::find(takers.begin(), takers.end(), server) == takers.end())
            co_return "a like server, " + printable(server.str(), 64) + ", got room elsewhere";
    co_return "";
}

Task<void> FreedRoomTracker::note(Request request, FreedRoomResult freed_room) {
    const bool wasted = freed_room.kind == FreedRoomResultKind::wasted;
    log_about(about(request), wasted ? spdlog::level::warn : spdlog::level::info,
              "{}: freed room {}: {}", request.id.str(), to_string(freed_room.kind),
              freed_room.reason);
    // What it teaches counts from when it is written, however long that takes.
    const auto write = [&]() {
        freed_room.at = dependencies_.cloud.clock.now();
        return dependencies_.journal.note_freed_room(request.id, freed_room);
    };
    const bool written = co_await retry_until_journaled(
        dependencies_.cloud.clock, dependencies_.stopping, request.id.str(), write);
    if (written) on_freed_room_(request, freed_room);
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
            const auto& takers = watched.takers;
            const bool counted = std::find(takers.begin(), takers.end(), server.id) != takers.end();
            if (counted || (!asked && !again)) continue;
            watched.takers.push_back(server.id);
            watched.open.erase(id);
        }
    }
}

}  // namespace reaper

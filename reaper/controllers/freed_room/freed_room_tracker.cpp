#include "reaper/controllers/freed_room/freed_room_tracker.hpp"

#include <chrono>
#include <iterator>
#include <utility>

#include "reaper/cloud/reader/requesters.hpp"
#include "reaper/model/likeness.hpp"
#include "reaper/model/text.hpp"
#include "reaper/request_spec/waiting.hpp"
#include "reaper/rooms/room.hpp"
#include "reaper/runtime/backoff.hpp"
#include "reaper/runtime/log.hpp"
#include "reaper/runtime/log_about.hpp"

namespace reaper {

bool came_since(const Server& server, TimePoint since) {
    const auto from = std::chrono::floor<std::chrono::seconds>(since);
    return server.created >= from || (server.launched.has_value() && *server.launched >= from);
}

bool note_takers(const Host& host, const Request& request, const Ledger& ledger, TimePoint decided,
                 const std::set<ServerId>* neighbours, RoomTakers& takers) {
    const Shape shape = shape_of(request);
    const HostRoom room = room_on(host, shape, ledger, request.id);
    ByPool left = room.room_now();
    if (room.fits(shape, left, 1)) return false;
    std::vector<const Server*> came;
    for (const auto& server : host.servers) {
        const bool is_new =
            neighbours != nullptr ? !neighbours->contains(server.id) : came_since(server, decided);
        if (is_new && !like_a_retry(server, request)) came.push_back(&server);
    }
    // Without the revocable ones first: that is what holding room would have done.
    for (const bool revocable : {true, false}) {
        std::vector<ServerId> those;
        for (const Server* server : came) {
            if (server->revocable() != revocable) continue;
            those.push_back(server->id);
            const ByPool gains = gains_of(room, shape, server->allocations);
            for (std::size_t i = 0; i < left.size(); ++i) left[i] += gains[i];
        }
        if (those.empty() || !room.fits(shape, left, 1)) continue;
        auto& found = revocable ? takers.revocable : takers.regular;
        found.insert(found.end(), those.begin(), those.end());
        return true;
    }
    return false;
}

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

void FreedRoomTracker::watch_cull(Request request, int slots, TimePoint freed_at,
                                  Duration for_how_long) {
    Watched watched;
    watched.culled = true;
    watched.slots = slots;
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
    watched.number = ++watched_so_far_;
    // Who is at the one before goes on with this one.
    if (const auto known = watched_.find(id); known != watched_.end())
        watched.concluding = known->second.concluding;
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
        watched.slots = request.slots;
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
                  "{}: the result for its room is not known yet: {}", watched.request.id.str(),
                  read.error().what);
    count_settled();
    co_return read.has_value();
}

/// `why_now`: what shows that no server will take the room; empty if its time is over or it is
/// taken.
Task<void> FreedRoomTracker::conclude(RequestId id, std::string why_now) {
    const auto at = watched_.find(id);
    if (at == watched_.end() || at->second.concluding) co_return;
    Watched& watched = at->second;  // no other coroutine erases it while `concluding`
    watched.concluding = true;
    const std::uint64_t number = watched.number;
    const auto needed = static_cast<std::size_t>(std::max(watched.request.slots, 1));
    const bool matters = watched.culled || !why_now.empty();
    if (matters && !watched.handed_to && !watched.all_taken()) {
        const bool read = co_await read_again(watched);
        if (watched.number != number) {  // the request was served again meanwhile
            watched.concluding = false;
            co_return;
        }
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
    ended.request.slots = ended.slots;
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
            const bool untaken =
                host == nullptr || !note_takers(*host, asked, dependencies_.rooms.ledger(),
                                                ended.decided_at, neighbours, others);
            // If the requester left, the host is not to blame.
            if (untaken && !ended.left) result.untaken.push_back(id);
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
                        : ended.left     ? "its requester went away, and no server took the room"
                                         : "no server took the room in time";
    }
    if (result.kind != FreedRoomResultKind::taken && !taken.empty())
        result.reason = taken + "; " + result.reason;
    return result;
}

/// Which servers are on its hosts already: any server that comes later may have taken its room.
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

/// What looks like the request's second try, wherever it is. Nova's times are whole seconds: one
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

/// Which of its requesters, or of what looks like their second try, are now on its hosts.
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

// Similar requests: which freed room is useless because Nova refused one of them, and whose room,
// still being freed, goes to another one because its own requester left.

namespace {

/// Between a look of Nova's scheduler and the time in its message, and between its clock and ours.
constexpr Duration nova_looked_before{500};

/// Nova refused `refused` although the room of `culled` was free: could `refused` have used it, as
/// far as is known?
bool disproves(const Request& refused, const Request& culled, TimePoint there_since) {
    return refused.id != culled.id && refused.sent_at > there_since + nova_looked_before &&
           refused.slots <= culled.slots && same_demands(refused, culled);
}

/// Do the servers that the older request was for now wait for this one?
bool ask_again(const std::vector<ServerId>& older, const Request& request) {
    const auto& now = request.requesters;
    return !older.empty() && std::all_of(older.begin(), older.end(), [&](const ServerId& server) {
        return std::find(now.begin(), now.end(), server) != now.end();
    });
}

// While Nova's events arrive, they show which requesters leave. The others are still asked about
// sometimes, because an event can be lost:
/// not within this time after a server was seen waiting,
constexpr Duration seen_for{300};
/// and for one request no more than these, seen longest ago.
constexpr std::size_t max_asked = 4;

}  // namespace

/// None if that is not known.
Task<std::optional<bool>> FreedRoomTracker::is_awaited(const Request& request) {
    if (request.requesters.empty()) co_return std::nullopt;
    std::vector<ServerId> asked = request.requesters;
    auto records = co_await read_requesters(dependencies_.cloud.compute, std::move(asked));
    if (!records) co_return std::nullopt;
    for (const auto& requester : request.requesters)
        if (!why_not_waiting(request, requester, (*records)[requester])) co_return true;
    co_return false;
}

/// Did it end during another read?
bool FreedRoomTracker::settled_since(const RequestId& id) const {
    const auto promises = dependencies_.rooms.ledger().promises_of(id);
    return std::none_of(promises.begin(), promises.end(),
                        [](const auto* promise) { return !promise->until.has_value(); });
}

Task<void> FreedRoomTracker::make_way_for(const Request& request, bool refused) {
    // Nova looked at that room when it refused this request.
    std::vector<RequestId> disproved;
    // A server that now asks for something else will not use it.
    std::vector<RequestId> left;
    for (auto& [id, watched] : watched_) {
        // What is kept in Placement, Nova did not see free.
        if (refused && disproves(request, watched.request, watched.since) &&
            !dependencies_.keeps(id)) {
            disproved.push_back(id);
        } else if (id != request.id && ask_again(watched.request.requesters, request)) {
            left.push_back(id);
        }
    }
    const std::string why =
        "Nova refused " + printable(request.id.str(), 64) + ", which asks for the same";
    const std::size_t asking_again = left.size();
    auto others = co_await given_up(request);
    std::move(others.begin(), others.end(), std::back_inserter(left));
    for (auto& id : disproved) {
        std::string reason = why;
        co_await conclude(std::move(id), std::move(reason));
    }
    for (std::size_t i = 0; i < left.size(); ++i) {
        RequestId& id = left[i];
        const std::string why_left = i < asking_again ? "its server asks again"
                                                      : "its server failed, and a similar one asks";
        // At once: the result for the room may not be known for a long time.
        dependencies_.rooms.handed_over(id);
        const auto at = watched_.find(id);
        if (at == watched_.end()) continue;
        std::string unused;
        if (serves(at->second, request))
            hand_over(id, request.id, why_left);
        else if (at->second.culled && i < asking_again)
            unused = "its server asks again, as " + printable(request.id.str(), 64) +
                     ", for something else";
        if (const auto handed = handed_.extract(id)) at->second.handed_to = handed.mapped();
        co_await conclude(std::move(id), std::move(unused));
    }
    co_await take_over(request);
}

Task<void> FreedRoomTracker::refused_anyway(RequestId id) {
    if (!watched_.contains(id)) co_return;
    std::string reason = "Nova refused the request although its search was offered the room";
    co_await conclude(std::move(id), std::move(reason));
}

/// Whose room a like request that waits in the gateway may have, or one that Nova refused since the
/// room is kept: their servers failed, and a second try is another server.
Task<std::vector<RequestId>> FreedRoomTracker::given_up(const Request& request) {
    std::vector<RequestId> alike, found;
    const bool waits = request.source == RequestSource::gateway;
    for (const auto& [id, watched] : watched_)
        if (id != request.id && (waits || dependencies_.keeps(id)) &&
            watched.request.slots <= request.slots && same_demands(request, watched.request) &&
            !watched.request.requesters.empty())
            alike.push_back(id);
    if (alike.size() > max_asked) alike.resize(max_asked);
    for (const RequestId& id : alike) {
        const auto at = watched_.find(id);
        if (at == watched_.end()) continue;
        const Request older = at->second.request;
        std::vector<ServerId> asked = older.requesters;
        auto records = co_await read_requesters(dependencies_.cloud.compute, std::move(asked));
        if (!records) continue;
        bool searched = false;  // or it has its room
        for (const ServerId& server : older.requesters) {
            const auto& record = (*records)[server];
            searched = searched || is_searched_for(older, record) || is_placed(older, record);
        }
        const auto claimed = [&](const ServerId& server) {
            return dependencies_.rooms.ledger().took_slot(id, server);
        };
        searched =
            searched || std::any_of(older.requesters.begin(), older.requesters.end(), claimed);
        if (!searched) found.push_back(id);
    }
    co_return found;
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
        if (server.soft_deleted() || server.being_deleted()) left_.insert_or_assign(server.id, now);
        if (server.status == "ERROR") failed_.insert_or_assign(server.id, now);
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

/// Culls under way whose room this request now gets: their requester left and this request asks for
/// the same, or their servers ask again with this request.
Task<void> FreedRoomTracker::take_over(const Request& request) {
    std::map<RequestId, Request> under_way;
    std::set<RequestId> asked_again;
    const auto look = [&](const Ledger::Promise& promise) {
        if (promise.request == request.id) return;
        if (ask_again(promise.requesters, request)) {
            asked_again.insert(promise.request);
            return;
        }
        const bool alike = promise.slot == request.resources ||
                           (request.fallback && promise.slot == request.fallback->resources);
        if (!alike) return;
        const auto [at, first] = under_way.try_emplace(promise.request);
        // Gone for good counts, not where it runs, nor that Nova is at the move that it waits for.
        at->second.operation = Operation::resize;
        at->second.source = RequestSource::gateway;
        at->second.requesters = promise.requesters;
        at->second.slots = promise.slots + (first ? 0 : at->second.slots);
    };
    dependencies_.rooms.ledger().each_under_way_for(request.project, look);
    for (const auto& id : asked_again) hand_over(id, request.id, "its server asks again");
    for (const auto& id : to_ask_about(under_way)) {
        const Duration asked_at = dependencies_.cloud.clock.steady();
        const auto waits = co_await is_awaited(under_way.at(id));
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
               return room.fits(shape, room.room_now(), 1);
           });
}

void FreedRoomTracker::hand_over(const RequestId& id, const RequestId& to, const std::string& why) {
    log_about({.request = id.str()}, spdlog::level::info, "{}: {}; its room goes to {}", id.str(),
              why, to.str());
    dependencies_.rooms.handed_over(id);
    dependencies_.handed_over(id, to);
    handed_.insert_or_assign(id, why + "; its room went to " + printable(to.str(), 64));
    if (handed_.size() > max_watched) handed_.erase(handed_.begin());
    heirs_.insert(to);
    if (heirs_.size() > max_watched) heirs_.erase(heirs_.begin());
}

// Which requesters still wait for freed room: whether they are searched for, failed, or left.

namespace {

/// Requesters are checked again after this time, or when an event names one;
constexpr Duration between_looks{4'000};
/// at most so many requests at a time, longest not asked about.
constexpr std::size_t max_looks = 8;
/// Without events, the answer that a server waits is valid for this time.
constexpr Duration answer_counts_for{2'000};

enum class Comes { yes, failed, no };

/// `hosts`: where its room is.
Comes comes(const Request& request, const ServerId& requester,
            const std::optional<ServerRecord>& record, const std::set<std::string>& hosts) {
    if (why_not_waiting(request, requester, record)) return Comes::no;
    const Server& server = record->server;
    if (is_searched_for(request, record)) return Comes::yes;
    const bool builds = request.operation == Operation::build;
    if (builds && server.status != "ERROR") return Comes::yes;  // it is on its way to a host
    const bool elsewhere = builds && !server.host.empty() && !hosts.contains(server.host);
    return elsewhere ? Comes::no : Comes::failed;
}

}  // namespace

bool FreedRoomTracker::may_have_left(const std::vector<ServerId>& requesters,
                                     Duration asked_at) const {
    const bool flowing = dependencies_.refresher.flowing();
    const Duration now = dependencies_.cloud.clock.steady();
    if (!flowing && !requesters.empty() && now - asked_at > answer_counts_for) return true;
    return std::any_of(requesters.begin(), requesters.end(), [&](const ServerId& each) {
        const auto left = left_.find(each);
        return left != left_.end() && left->second >= asked_at;
    });
}

void FreedRoomTracker::came_to_nothing(const RequestId& id) {
    const TimePoint now = dependencies_.cloud.clock.now();
    const auto at = watched_.find(id);
    if (at != watched_.end()) {
        if (at->second.failed || at->second.left) return;
        at->second.failed = now;
    }
    dependencies_.rooms.holds_until(id, now + dependencies_.settings.cull.promise);
}

Task<void> FreedRoomTracker::look_who_comes() {
    auto ids = to_look_after();
    std::vector<Task<void>> looks;
    for (RequestId& id : ids) looks.push_back(look_after(std::move(id)));
    co_await run_all(std::move(looks));
}

/// Is room that is there promised to it?
bool FreedRoomTracker::is_promised(const RequestId& id) const {
    const auto promises = dependencies_.rooms.ledger().promises_of(id);
    return std::any_of(promises.begin(), promises.end(), [](const auto* const promise) {
        return promise->until.has_value() && promise->kept() > 0;
    });
}

/// Requests of the gateway whose room is there and promised, and whose servers may have left.
std::vector<RequestId> FreedRoomTracker::to_look_after() const {
    const Duration now = dependencies_.cloud.clock.steady();
    std::vector<std::pair<Duration, RequestId>> due;
    for (const auto& [id, watched] : watched_) {
        const Request& request = watched.request;
        if (request.source != RequestSource::gateway || request.requesters.empty()) continue;
        if (watched.failed || watched.left || watched.concluding) continue;
        if (!is_promised(id)) continue;
        const bool told = may_have_left(request.requesters, watched.asked_at);
        if (told || now - watched.asked_at >= between_looks) due.emplace_back(watched.asked_at, id);
    }
    std::sort(due.begin(), due.end());
    if (due.size() > max_looks) due.resize(max_looks);
    std::vector<RequestId> ids;
    for (auto& [asked_at, id] : due) ids.push_back(std::move(id));
    return ids;
}

Task<void> FreedRoomTracker::look_after(RequestId id) {
    const auto known = watched_.find(id);
    if (known == watched_.end()) co_return;
    known->second.asked_at = dependencies_.cloud.clock.steady();
    const Request request = known->second.request;
    std::set<std::string> hosts;
    for (const HostId& host : known->second.hosts)
        if (const Host* const there = dependencies_.refresher.cache().find(host))
            hosts.insert(there->service_host);
    std::vector<ServerId> gone;
    // Of some nothing is known.
    bool waits = request.slots > static_cast<int>(request.requesters.size());
    std::optional<TimePoint> failed;
    std::vector<ServerId> asked = request.requesters;
    auto records = co_await read_requesters(dependencies_.cloud.compute, std::move(asked));
    if (!records) co_return;
    for (const ServerId& requester : request.requesters) {
        const auto& record = (*records)[requester];
        Comes answer = comes(request, requester, record, hosts);
        // It failed, and its user tidied up.
        if (answer == Comes::no && failed_.contains(requester) && !record) answer = Comes::failed;
        waits = waits || answer == Comes::yes;
        if (answer == Comes::failed) failed = dependencies_.cloud.clock.now();
        if (answer == Comes::no) gone.push_back(requester);
    }
    const auto at = watched_.find(id);
    if (at == watched_.end() || at->second.concluding || at->second.failed) co_return;
    const TimePoint now = dependencies_.cloud.clock.now();
    if (waits || failed) {
        if (!waits) at->second.failed = failed;
        for (const ServerId& server : gone) dependencies_.rooms.gave_up(id, server);
        dependencies_.rooms.holds_until(id, now + dependencies_.settings.cull.promise);
        co_return;
    }
    at->second.left = true;
    dependencies_.rooms.holds_until(id, now);
    log_about(about(request), spdlog::level::info,
              "{}: none of its requesters waits for its room, which is released", id.str());
}

}  // namespace reaper

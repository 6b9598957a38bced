// Like requests: which freed room Nova's refusal of one disproves, and whose room, still on its
// way, goes to another one because nobody waits for it any more.
#include <algorithm>
#include <iterator>
#include <utility>

#include "reaper/cloud_reader/requesters.hpp"
#include "reaper/controllers/freed_room/freed_room_tracker.hpp"
#include "reaper/model/likeness.hpp"
#include "reaper/model/text.hpp"
#include "reaper/request_spec/waiting.hpp"
#include "reaper/runtime/log_about.hpp"

namespace reaper {
namespace {

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

}  // namespace

/// None if that can't be told.
Task<std::optional<bool>> FreedRoomTracker::is_awaited(const Request& request) {
    if (request.requesters.empty()) co_return std::nullopt;
    std::vector<ServerId> asked = request.requesters;
    auto records = co_await read_requesters(dependencies_.cloud.compute, std::move(asked));
    if (!records) co_return std::nullopt;
    for (const auto& requester : request.requesters)
        if (!why_not_waiting(request, requester, (*records)[requester])) co_return true;
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
        // What is kept in Placement, Nova did not see free.
        if (refused && disproves(request, watched.request, watched.since) &&
            !dependencies_.keeps(id)) {
            disproved.push_back(id);
        } else if (id != request.id && ask_anew(watched.request.requesters, request)) {
            left.push_back(id);
        }
    }
    const std::string why =
        "Nova refused " + printable(request.id.str(), 64) + ", which asks for the same";
    const std::size_t asking_anew = left.size();
    auto others = co_await given_up(request);
    std::move(others.begin(), others.end(), std::back_inserter(left));
    for (auto& id : disproved) {
        std::string reason = why;
        co_await conclude(std::move(id), std::move(reason));
    }
    for (std::size_t i = 0; i < left.size(); ++i) {
        RequestId& id = left[i];
        const std::string why_left =
            i < asking_anew ? "its server asks anew" : "its server failed, and a like one asks";
        // At once: it may be long until what became of the room can be told.
        dependencies_.rooms.handed_over(id);
        const auto at = watched_.find(id);
        if (at == watched_.end()) continue;
        std::string unused;
        if (serves(at->second, request))
            hand_over(id, request.id, why_left);
        else if (at->second.culled && i < asking_anew)
            unused = "its server asks anew, as " + printable(request.id.str(), 64) +
                     ", for something else";
        if (const auto handed = handed_.extract(id)) at->second.handed_to = handed.mapped();
        co_await conclude(std::move(id), std::move(unused));
    }
    co_await take_over(request);
}

Task<void> FreedRoomTracker::refused_anyway(RequestId id) {
    if (!watched_.contains(id)) co_return;
    std::string reason = "Nova refused the request though its search was told of the room";
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
        // Gone for good counts, not where it runs, nor that Nova is at the move that it waits for.
        at->second.operation = Operation::resize;
        at->second.source = RequestSource::gateway;
        at->second.requesters = promise.requesters;
        at->second.slots = promise.slots + (first ? 0 : at->second.slots);
    };
    dependencies_.rooms.ledger().each_under_way_for(request.project, look);
    for (const auto& id : asked_anew) hand_over(id, request.id, "its server asks anew");
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
               return room.slots(shape, room.room_now()) > 0;
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

}  // namespace reaper

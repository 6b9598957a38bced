// Who still comes for freed room: whether its request's servers are searched for, failed, or left.
#include <algorithm>
#include <utility>

#include "reaper/cloud_reader/requesters.hpp"
#include "reaper/controllers/freed_room/freed_room_tracker.hpp"
#include "reaper/request_spec/waiting.hpp"
#include "reaper/runtime/log_about.hpp"

namespace reaper {
namespace {

/// Requesters are asked about again after so long, or when an event tells of one;
constexpr Duration between_looks{4'000};
/// at most so many requests at a time, longest not asked about.
constexpr std::size_t max_looks = 8;
/// Without events, an answer that somebody waits counts for so long.
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
              "{}: nobody comes for its room any more, which is let go", id.str());
}

}  // namespace reaper

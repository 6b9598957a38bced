#include "reaper/controllers/freed_room/room_lives.hpp"

#include <algorithm>
#include <utility>

#include "reaper/model/text.hpp"
#include "reaper/model/time.hpp"
#include "reaper/runtime/backoff.hpp"
#include "reaper/runtime/log.hpp"
#include "reaper/runtime/log_about.hpp"

namespace reaper {
namespace {

/// Of one that is not where it was: not sooner.
constexpr Duration read_again_after{30'000};

/// Does it hold its room no more, wherever it is?
bool holds_nothing(const Request& request, const std::optional<ServerRecord>& record) {
    if (!record) return true;
    const Server& server = record->server;
    if (server.being_deleted() || server.soft_deleted() || server.host.empty()) return true;
    // A move that was taken back.
    if (is_move(request.operation) && server.host == request.from_host) return true;
    // Resized to less.
    static const ResourceClass vcpu{"VCPU"}, pcpu{"PCPU"};
    const std::string& flavor = record->flavor.name;
    return !request.flavor.empty() && !flavor.empty() && flavor != request.flavor &&
           record->flavor.vcpus < request.resources.get(vcpu) + request.resources.get(pcpu);
}

/// Does it hold a slot, as the cache shows it?
bool holds_a_slot(const Server& server, const Request& request) {
    if (server.being_deleted() || server.soft_deleted()) return false;
    const Resources held = server.resources();
    return request.resources.fits_in(held) ||
           (request.fallback && request.fallback->resources.fits_in(held));
}

}  // namespace

RoomLives::RoomLives(Dependencies dependencies, OnUse on_use)
    : dependencies_(std::move(dependencies)), on_use_(std::move(on_use)) {}

ResultTask<void> RoomLives::restore() {
    const TimePoint now = dependencies_.cloud.clock.now();
    const Duration long_enough = dependencies_.long_enough();
    // Of several takers the first may have come long before the last.
    const TimePoint since = now - long_enough - std::chrono::days{1};
    auto records = co_await dependencies_.journal.freed_rooms_since(since);
    if (!records) co_return records.error();
    for (auto& record : *records) {
        const RequestId id = record.request.id;
        watch(std::move(record.request), *record.freed_room);
        const auto watched = watched_.find(id);
        if (watched == watched_.end()) continue;
        // Those of long ago count as used.
        for (const RoomTaker& taker : record.freed_room->takers)
            if (now - taker.at >= long_enough) watched->second.open.erase(taker.server);
        if (watched->second.open.empty()) watched_.erase(watched);
    }
    co_return Result<void>{};
}

void RoomLives::watch(Request request, FreedRoomResult taken) {
    const bool was_taken =
        taken.kind == FreedRoomResultKind::taken || taken.kind == FreedRoomResultKind::short_lived;
    if (!was_taken || watched_.size() >= max_watched) return;
    const RequestId id = request.id;
    Watched watched;
    for (const RoomTaker& taker : taken.takers)
        if (!taker.lived) watched.open.insert(taker.server);
    if (watched.open.empty()) return;
    watched.request = std::move(request);
    watched.result = std::move(taken);
    watched_.insert_or_assign(id, std::move(watched));
}

/// Does the cache show it with its room?
bool RoomLives::shown(Watched& watched, const ServerId& server) {
    const CloudCache& cache = dependencies_.refresher.cache();
    const auto on = [&](const Host* host) {
        return host != nullptr &&
               std::any_of(host->servers.begin(), host->servers.end(), [&](const Server& each) {
                   return each.id == server && holds_a_slot(each, watched.request);
               });
    };
    if (const auto known = watched.seen_on.find(server); known != watched.seen_on.end())
        return on(cache.find(known->second));
    for (const Host* const host : cache.hosts())
        if (on(host)) {
            watched.seen_on.insert_or_assign(server, host->id);
            return true;
        }
    return false;
}

ResultTask<RoomLives::Fate> RoomLives::fate_of(Request request, ServerId server) {
    ServerId asked = server;
    auto record = co_await dependencies_.cloud.compute.server(std::move(asked));
    if (!record) co_return record.error();
    if (!holds_nothing(request, *record)) co_return Fate::there;
    const bool theirs = co_await given_back_by_its_project(std::move(request), std::move(server));
    co_return theirs ? Fate::given_back : Fate::removed;
}

/// As far as Nova's actions show: yes, unless a user of another project asked for it.
Task<bool> RoomLives::given_back_by_its_project(Request request, ServerId server) {
    auto actions = co_await dependencies_.cloud.compute.actions(std::move(server));
    if (!actions) co_return true;
    for (const ActionRecord& action : *actions)
        for (const char* const name : {"delete", "softDelete", "forceDelete", "shelve",
                                       "shelveOffload", "resize", "revertResize"})
            if (action.name == name)
                co_return action.project.empty() || action.project == request.project;
    co_return true;
}

std::vector<RoomLives::Open> RoomLives::all_open() const {
    std::vector<Open> all;
    for (const auto& [id, watched] : watched_)
        for (const ServerId& server : watched.open)
            for (const RoomTaker& taker : watched.result.takers)
                if (taker.server == server) {
                    all.push_back({id, server, taker.at});
                    break;  // one may have taken several slots
                }
    return all;
}

ResultTask<void> RoomLives::check() {
    if (!dependencies_.refresher.built()) co_return Result<void>{};
    const Duration long_enough = dependencies_.long_enough();
    const Duration steady = dependencies_.cloud.clock.steady();
    const TimePoint now = dependencies_.cloud.clock.now();
    std::vector<Open> missing;
    for (Open& each : all_open()) {
        Watched& watched = watched_.at(each.request);
        const auto read = watched.read_at.find(each.server);
        const bool asked =
            read != watched.read_at.end() && steady - read->second < read_again_after;
        // A cache that no events keep fresh may show it for long.
        const bool there =
            asked || (dependencies_.refresher.flowing() && shown(watched, each.server));
        if (there && now - each.at >= long_enough)
            end(each, std::nullopt);
        else if (!there && static_cast<int>(missing.size()) < max_reads)
            missing.push_back(std::move(each));
    }
    for (Open& each : missing) co_await judge(std::move(each));
    co_return Result<void>{};
}

/// The cache does not show it.
Task<void> RoomLives::judge(Open one) {
    Request request = watched_.at(one.request).request;
    ServerId server = one.server;
    const auto fate = co_await fate_of(std::move(request), std::move(server));
    if (!fate) co_return;  // it is asked for again
    const auto at = watched_.find(one.request);
    if (at == watched_.end()) co_return;
    const Duration lived = dependencies_.cloud.clock.now() - one.at;
    if (*fate == Fate::there) {
        at->second.seen_on.erase(one.server);
        at->second.read_at.insert_or_assign(one.server, dependencies_.cloud.clock.steady());
    } else if (*fate == Fate::removed || lived >= dependencies_.long_enough()) {
        end(one, std::nullopt);
    } else {
        const Duration used = std::max(lived, Duration{});
        co_await note_given_back(std::move(one), used);
    }
}

/// Called by the first look that does not find it; `lived` is how long it was there.
Task<void> RoomLives::note_given_back(Open one, Duration lived) {
    Watched& watched = watched_.at(one.request);  // no other coroutine ends it meanwhile
    FreedRoomResult& result = watched.result;
    for (RoomTaker& taker : result.takers)
        if (taker.server == one.server) taker.lived = lived;
    const std::string why = printable(one.server.str(), 64) + " gave its room back after " +
                            format_duration(std::chrono::floor<std::chrono::seconds>(lived));
    result.kind = FreedRoomResultKind::short_lived;
    result.reason += (result.reason.empty() ? "" : "; ") + why;
    log_about(about(watched.request), spdlog::level::info, "{}: freed room: {}", one.request.str(),
              why);
    const FreedRoomResult known = result;
    const auto write = [&]() { return dependencies_.journal.note_freed_room(one.request, known); };
    const bool written = co_await retry_until_journaled(
        dependencies_.cloud.clock, dependencies_.stopping, one.request.str(), write);
    if (written) end(one, lived);
}

void RoomLives::end(const Open& one, std::optional<Duration> lived) {
    const auto at = watched_.find(one.request);
    if (at == watched_.end() || at->second.open.erase(one.server) == 0) return;
    for (const RoomTaker& taker : at->second.result.takers)
        if (taker.server == one.server) on_use_(at->second.request, lived);
    if (at->second.open.empty()) watched_.erase(at);
}

}  // namespace reaper

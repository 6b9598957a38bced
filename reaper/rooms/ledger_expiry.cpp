// What comes to its end by what is seen of the hosts: slots that were taken, promises, evictions.
#include <algorithm>
#include <chrono>
#include <utility>

#include "reaper/rooms/ledger.hpp"

namespace reaper {
namespace {

/// Of the project and shape that the slot is promised for, and not there for longer than that.
bool like_a_second_try(const Server& server, const Ledger::Promise& promise,
                       const Resources& held) {
    // Nova tells times in whole seconds, cut off.
    const auto since = std::chrono::floor<std::chrono::seconds>(promise.since);
    const bool came_after =
        server.created >= since || (server.launched.has_value() && *server.launched >= since);
    return came_after && server.project == promise.project && held == promise.slot;
}

bool holds_room(const ServerId& consumer, const Host& host) {
    return std::any_of(host.providers.begin(), host.providers.end(), [&](const Provider& provider) {
        return provider.other_consumers.contains(consumer);
    });
}

/// Does the host still know the server as one that is being deleted, or hold room for it though
/// Nova lists it no more?
bool still_going(const ServerId& id, const Host& host) {
    for (const auto& server : host.servers)
        if (server.id == id) return server.being_deleted() || server.unfinished_deletion;
    return holds_room(id, host);
}

}  // namespace

void Ledger::note_there_before(const RequestId& request, const HostLookup& host_of) {
    for (const auto number : promises_.of(request)) {
        Promise& promise = promises_.change(number);
        const Host* const host = host_of(promise.host);
        if (host == nullptr) continue;
        for (const auto& server : host->servers)
            if (like_a_second_try(server, promise, held_on(server, *host)))
                promise.there_before.push_back(server.id);
    }
}

/// Where anything of it is.
std::set<HostId> Ledger::hosts_of_interest() const {
    std::set<HostId> hosts = to_look_at_;
    for (const auto& [host, servers] : evictions_on_) hosts.insert(host);
    for (const auto& [host, servers] : given_up_on_) hosts.insert(host);
    for (const auto* promises : {&promises_, &watched_})
        for (const auto& [number, promise] : promises->all()) hosts.insert(promise.host);
    return hosts;
}

std::vector<Ledger::Settled> Ledger::expire(const Snapshot& snapshot, TimePoint now) {
    std::map<HostId, const Host*> hosts;
    for (const auto& host : snapshot.hosts) hosts.emplace(host.id, &host);
    return expire(
        [&](const HostId& id) {
            const auto at = hosts.find(id);
            return at == hosts.end() ? nullptr : at->second;
        },
        now);
}

std::vector<Ledger::Settled> Ledger::expire(const HostLookup& host_of, TimePoint now) {
    to_look_at_ = hosts_of_interest();
    return expire(host_of, {}, now);
}

std::vector<Ledger::Settled> Ledger::expire(const HostLookup& host_of,
                                            const std::set<HostId>& changed, TimePoint now) {
    std::set<HostId> hosts = std::exchange(to_look_at_, {});
    hosts.insert(changed.begin(), changed.end());
    std::vector<Settled> settled;
    expire_evictions(hosts, host_of);
    count_all_taken(hosts, host_of, settled);
    drop_late_promises(now, settled);
    forget_takers();
    return settled;
}

/// A slot that was taken in time is taken, also when that is only seen now. Known requesters
/// first: a like server of the same project must not take their request's slot.
void Ledger::count_all_taken(const std::set<HostId>& hosts, const HostLookup& host_of,
                             std::vector<Settled>& settled) {
    using Found = std::pair<RoomPromises*, RoomPromises::Number>;
    std::vector<Found> found;
    for (auto* promises : {&promises_, &watched_}) {
        const auto first = found.size();
        for (const HostId& host : hosts)
            for (const auto number : promises->on(host))
                if ((*promises)[number].until) found.emplace_back(promises, number);
        std::sort(found.begin() + static_cast<std::ptrdiff_t>(first), found.end(),
                  [](const Found& a, const Found& b) { return a.second < b.second; });
    }
    for (const bool requesters_only : {true, false})
        for (const auto& [promises, number] : found) {
            Promise& promise = promises->change(number);
            const Host* const host = host_of(promise.host);
            if (host == nullptr) continue;
            const int before = promise.open();
            count_taken(promise, *host, requesters_only, settled);
            count_claims(promise, *host);
            if (promises != &promises_) continue;
            if (promise.open() != before) changes_.add({promise.host, {}});
            weigh(promise.host);
        }
}

/// Of those who took a slot: what no promise is left for says nothing any more.
void Ledger::forget_takers() {
    if (promises_.empty() && watched_.empty()) {
        took_.clear();
        took_from_.clear();
    }
    if (took_.size() < takers_to_sort_out_) return;
    std::vector<RequestId> over;
    for (const auto& [request, servers] : took_from_)
        if (promises_.of(request).empty() && watched_.of(request).empty()) over.push_back(request);
    for (const RequestId& request : over) forget_takers_of(request);
    takers_to_sort_out_ = std::max(max_takers, 2 * took_.size());
}

/// They may take another request's slot from now on.
void Ledger::forget_takers_of(const RequestId& request) {
    const auto takers = took_from_.extract(request);
    if (takers.empty()) return;
    for (const ServerId& server : takers.mapped()) {
        const auto took = took_.find(server);
        to_look_at_.insert(took->second.host);
        took_.erase(took);
    }
}

void Ledger::expire_evictions(const std::set<HostId>& hosts, const HostLookup& host_of) {
    for (const HostId& id : hosts) {
        const Host* const host = host_of(id);
        for (const ServerId& server : evicting_on(id)) {
            const Eviction& eviction = evictions_.at(server);
            if (eviction.ended && (host == nullptr || *eviction.ended < host->read_at))
                erase(server);
        }
        const auto at = given_up_on_.find(id);
        if (at == given_up_on_.end()) continue;
        const std::vector<ServerId> servers(at->second.begin(), at->second.end());
        for (const ServerId& server : servers)
            if (host == nullptr ||
                (given_up_.at(server).at < host->read_at && !still_going(server, *host)))
                erase_given_up(server);
    }
}

void Ledger::count_taken(Promise& promise, const Host& host, bool requesters_only,
                         std::vector<Settled>& settled) {
    for (const auto& server : host.servers) {
        if (promise.slots == 0) break;
        if (requesters_only && !promise.is_for(server.id)) continue;
        if (!takes_slot(server, promise, host)) continue;
        const auto [took, first] = took_.try_emplace(server.id);
        if (!first) took_from_[took->second.request].erase(server.id);
        took->second = Took{promise.request, promise.host};
        took_from_[promise.request].insert(server.id);
        --promise.slots;
        unclaim(promise.request, server.id);
        settled.push_back(Settled{promise.request, promise.host, server.id, 1});
    }
}

/// Requesters that hold room there and that Nova does not show there: between a claim and the start
/// of the build or the move.
void Ledger::count_claims(Promise& promise, const Host& host) {
    int claims = 0;
    for (const ServerId& requester : promise.requesters) {
        if (took_slot(promise.request, requester) || !holds_room(requester, host)) continue;
        unclaim(promise.request, requester);
        ++claims;
    }
    promise.claimed = std::min(claims, promise.slots);
}

void Ledger::drop_late_promises(TimePoint now, std::vector<Settled>& settled) {
    for (const auto number : promises_.over(now)) {
        Promise promise = take(number);
        if (promise.watched)
            watched_.add(std::move(promise));
        else if (promise.slots > 0)
            settled.push_back(Settled{promise.request, promise.host, std::nullopt, promise.slots});
    }
}

/// Is the server the request's second try, or the requester itself, and not counted yet?
bool Ledger::takes_slot(const Server& server, const Promise& promise, const Host& host) const {
    const auto took = took_.find(server.id);
    if (took != took_.end() && took->second.request == promise.request) return false;
    const Resources held = held_on(server, host);
    if (held.empty()) return false;
    if (promise.is_for(server.id)) return true;
    if (took != took_.end()) return false;
    const auto& before = promise.there_before;
    if (std::find(before.begin(), before.end(), server.id) != before.end()) return false;
    return like_a_second_try(server, promise, held);
}

}  // namespace reaper

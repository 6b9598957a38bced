#include "reaper/rooms/ledger.hpp"

#include <algorithm>
#include <chrono>
#include <set>
#include <tuple>
#include <utility>

namespace reaper {
namespace {

bool is_requester(const Ledger::Promise& promise, const ServerId& server) {
    return std::find(promise.requesters.begin(), promise.requesters.end(), server) !=
           promise.requesters.end();
}

/// Of the project and shape that the slot is promised for, and not there for longer than that.
bool like_a_second_try(const Server& server, const Ledger::Promise& promise,
                       const Resources& held) {
    // Nova tells times in whole seconds, cut off.
    const auto since = std::chrono::floor<std::chrono::seconds>(promise.since);
    const bool came_after =
        server.created >= since || (server.launched.has_value() && *server.launched >= since);
    return came_after && server.project == promise.project && held == promise.slot;
}

/// Does the host still know the server as one that is being deleted, or hold room for it though
/// Nova lists it no more?
bool still_going(const ServerId& id, const Host& host) {
    for (const auto& server : host.servers)
        if (server.id == id) return server.task_state == "deleting" || server.unfinished_deletion;
    return std::any_of(host.providers.begin(), host.providers.end(), [&](const Provider& provider) {
        return provider.other_consumers.contains(id);
    });
}

}  // namespace

bool promises_room(const NothingToDo& nothing, bool somebody_died) {
    return !nothing.pending_releases().empty() || (somebody_died && !nothing.hosts.empty());
}

Ledger::Ledger(const std::vector<Eviction>& evictions, std::vector<Promise> promises)
    : promises_(std::move(promises)) {
    for (const Eviction& eviction : evictions) evictions_.emplace(eviction.server, eviction);
}

std::vector<Ledger::Eviction> Ledger::evictions() const {
    std::vector<Eviction> all;
    for (const auto& [server, eviction] : evictions_) all.push_back(eviction);
    return all;
}

void Ledger::enter(const Request& request, const Plan& plan, TimePoint now) {
    enter(request, plan.hosts, now);
}

void Ledger::enter(const Request& request, const std::vector<HostPlan>& hosts, TimePoint now) {
    release_promises(request.id);
    std::erase_if(took_, [&](const auto& t) { return t.second == request.id; });
    for (auto& [server, eviction] : evictions_)
        if (eviction.request == request.id) eviction.counted = false;
    std::vector<Resources> groups;
    for (const auto& group : request.groups) groups.push_back(group.resources);
    for (const auto& host : hosts) {
        for (const auto& each : host.pending_releases)
            if (const auto own = evictions_.find(each.server);
                own != evictions_.end() && own->second.request == request.id)
                own->second.counted = true;
        for (const auto& victim : host.victims)
            evictions_.emplace(victim.server,
                               Eviction{request.id, host.host, victim.server, std::nullopt, true});
        if (host.slots <= 0) continue;
        promises_.push_back(Promise{request.id,
                                    request.project,
                                    host.host,
                                    host.slot.empty() ? request.resources : host.slot,
                                    host.slots,
                                    request.requesters,
                                    now,
                                    std::nullopt,
                                    false,
                                    {},
                                    request.placement.group.id,
                                    groups});
    }
}

void Ledger::note_there_before(const RequestId& request, const HostLookup& host_of) {
    for (auto& promise : promises_) {
        const Host* const host = promise.request == request ? host_of(promise.host) : nullptr;
        if (host == nullptr) continue;
        for (const auto& server : host->servers)
            if (like_a_second_try(server, promise, held_on(server, *host)))
                promise.there_before.push_back(server.id);
    }
}

void Ledger::drop_eviction(const ServerId& server) {
    evictions_.erase(server);
}

void Ledger::settle(const RequestId& request, TimePoint now, TimePoint until) {
    for (auto& promise : promises_)
        if (promise.request == request) promise.until = until;
    for (auto& [server, eviction] : evictions_)
        if (eviction.request == request) eviction.ended = now;
}

void Ledger::watch(const RequestId& request) {
    for (auto& promise : promises_)
        if (promise.request == request) promise.watched = true;
}

std::vector<Ledger::Settled> Ledger::lapse(const RequestId& request) {
    std::vector<Settled> settled;
    for (auto* promises : {&promises_, &watched_})
        for (const auto& promise : *promises)
            if (promise.request == request && promise.slots > 0)
                settled.push_back(Settled{request, promise.host, std::nullopt, promise.slots});
    release_promises(request);
    return settled;
}

void Ledger::release(const RequestId& request) {
    release_promises(request);
    std::erase_if(evictions_, [&](const auto& e) { return e.second.request == request; });
}

void Ledger::release_promises(const RequestId& request) {
    for (auto* promises : {&promises_, &watched_})
        std::erase_if(*promises, [&](const Promise& p) { return p.request == request; });
}

void Ledger::give_up_on(const HostId& host, const ServerId& server, TimePoint now) {
    given_up_.insert_or_assign(server, GivenUp{host, now});
    if (given_up_.size() <= max_given_up) return;
    given_up_.erase(
        std::min_element(given_up_.begin(), given_up_.end(), [](const auto& a, const auto& b) {
            return std::tie(a.second.at, a.first) < std::tie(b.second.at, b.first);
        }));
}

std::vector<ServerId> Ledger::all_given_up() const {
    std::vector<ServerId> all;
    for (const auto& [server, given_up] : given_up_) all.push_back(server);
    return all;
}

void Ledger::shift(Duration by) {
    for (auto* promises : {&promises_, &watched_})
        for (auto& promise : *promises) {
            promise.since += by;
            if (promise.until) *promise.until += by;
        }
    for (auto& [server, eviction] : evictions_)
        if (eviction.ended) *eviction.ended += by;
    for (auto& [server, given_up] : given_up_) given_up.at += by;
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
    std::vector<Settled> settled;
    expire_evictions(host_of);
    // A slot that was taken in time is taken, also when that is only seen now. Known requesters
    // first: a like server of the same project must not take their request's slot.
    for (const bool requesters_only : {true, false})
        for (auto* promises : {&promises_, &watched_})
            for (auto& promise : *promises)
                if (const Host* const host = promise.until ? host_of(promise.host) : nullptr)
                    count_taken(promise, *host, requesters_only, settled);
    drop_late_promises(now, settled);
    forget_takers();
    return settled;
}

/// Of those who took a slot: what no promise is left for says nothing any more.
void Ledger::forget_takers() {
    if (promises_.empty() && watched_.empty()) took_.clear();
    if (took_.size() < takers_to_sort_out_) return;
    std::set<RequestId> open;
    for (const auto* promises : {&promises_, &watched_})
        for (const auto& promise : *promises) open.insert(promise.request);
    std::erase_if(took_, [&](const auto& t) { return !open.contains(t.second); });
    takers_to_sort_out_ = std::max(max_takers, 2 * took_.size());
}

void Ledger::expire_evictions(const HostLookup& host_of) {
    std::erase_if(evictions_, [&](const auto& e) {
        if (!e.second.ended) return false;
        const Host* const host = host_of(e.second.host);
        return host == nullptr || *e.second.ended < host->read_at;
    });
    std::erase_if(given_up_, [&](const auto& g) {
        const Host* const host = host_of(g.second.host);
        return host == nullptr || (g.second.at < host->read_at && !still_going(g.first, *host));
    });
}

void Ledger::count_taken(Promise& promise, const Host& host, bool requesters_only,
                         std::vector<Settled>& settled) {
    for (const auto& server : host.servers) {
        if (promise.slots == 0) break;
        if (requesters_only && !is_requester(promise, server.id)) continue;
        if (!takes_slot(server, promise, host)) continue;
        took_.insert_or_assign(server.id, promise.request);
        --promise.slots;
        settled.push_back(Settled{promise.request, promise.host, server.id, 1});
    }
}

void Ledger::drop_late_promises(TimePoint now, std::vector<Settled>& settled) {
    std::erase_if(promises_, [&](const Promise& promise) {
        if (!promise.until || now < *promise.until) return false;
        if (promise.watched)
            watched_.push_back(promise);
        else if (promise.slots > 0)
            settled.push_back(Settled{promise.request, promise.host, std::nullopt, promise.slots});
        return true;
    });
}

/// Is the server the request's second try, or the requester itself, and not counted yet?
bool Ledger::takes_slot(const Server& server, const Promise& promise, const Host& host) const {
    const auto took = took_.find(server.id);
    if (took != took_.end() && took->second == promise.request) return false;
    const Resources held = held_on(server, host);
    if (held.empty()) return false;
    if (is_requester(promise, server.id)) return true;
    if (took != took_.end()) return false;
    const auto& before = promise.there_before;
    if (std::find(before.begin(), before.end(), server.id) != before.end()) return false;
    return like_a_second_try(server, promise, held);
}

bool Ledger::evicting(const ServerId& server) const {
    return evictions_.contains(server);
}

const Ledger::Eviction* Ledger::eviction(const ServerId& server) const {
    const auto at = evictions_.find(server);
    return at == evictions_.end() ? nullptr : &at->second;
}

std::vector<ServerId> Ledger::evicting_on(const HostId& host) const {
    std::vector<ServerId> servers;
    for (const auto& [server, eviction] : evictions_)
        if (eviction.host == host) servers.push_back(server);
    return servers;
}

Resources Ledger::promised_to_others(const HostId& host, const RequestId& request) const {
    Resources promised;
    for (const auto& promise : promises_)
        if (promise.host == host && promise.request != request)
            promised += promise.slot * promise.slots;
    return promised;
}

}  // namespace reaper

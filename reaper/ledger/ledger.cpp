#include "reaper/ledger/ledger.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace reaper {
namespace {

/// What the server holds on the providers of `host`.
Resources held_on(const Server& server, const Host& host) {
    Resources held;
    for (const auto& provider : host.providers)
        if (const auto at = server.allocations.find(provider.id); at != server.allocations.end())
            held += at->second;
    return held;
}

bool is_requester(const Ledger::Promise& promise, const ServerId& server) {
    return std::find(promise.requesters.begin(), promise.requesters.end(), server) !=
           promise.requesters.end();
}

}  // namespace

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
    std::erase_if(promises_, [&](const Promise& p) { return p.request == request.id; });
    std::erase_if(took_, [&](const auto& t) { return t.second == request.id; });
    for (const auto& host : plan.hosts) {
        for (const auto& victim : host.victims)
            evictions_.emplace(victim.server,
                               Eviction{request.id, host.host, victim.server, std::nullopt});
        if (host.slots <= 0) continue;
        promises_.push_back(Promise{request.id, request.project, host.host, request.resources,
                                    host.slots, request.requesters, now, std::nullopt});
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

void Ledger::release(const RequestId& request) {
    std::erase_if(promises_, [&](const Promise& p) { return p.request == request; });
    std::erase_if(evictions_, [&](const auto& e) { return e.second.request == request; });
}

void Ledger::expire(const Snapshot& snapshot, TimePoint now) {
    std::map<HostId, const Host*> hosts;
    for (const auto& host : snapshot.hosts) hosts.emplace(host.id, &host);
    expire(
        [&](const HostId& id) {
            const auto at = hosts.find(id);
            return at == hosts.end() ? nullptr : at->second;
        },
        now);
}

void Ledger::expire(const HostLookup& host_of, TimePoint now) {
    std::erase_if(evictions_, [&](const auto& e) {
        if (!e.second.ended) return false;
        const Host* const host = host_of(e.second.host);
        return host == nullptr || *e.second.ended < host->read_at;
    });
    std::erase_if(promises_, [&](const Promise& p) { return p.until && *p.until <= now; });
    // Known requesters first: a like server of the same project must not take their request's slot.
    for (const bool requesters_only : {true, false})
        for (auto& promise : promises_) {
            const Host* const host = promise.until ? host_of(promise.host) : nullptr;
            if (host == nullptr) continue;
            for (const auto& server : host->servers) {
                if (promise.slots == 0) break;
                if (requesters_only && !is_requester(promise, server.id)) continue;
                if (!takes_slot(server, promise, *host)) continue;
                took_.insert_or_assign(server.id, promise.request);
                --promise.slots;
            }
        }
    if (promises_.empty()) took_.clear();
}

/// Is the server the request's second try, or the requester itself, and not counted yet?
bool Ledger::takes_slot(const Server& server, const Promise& promise, const Host& host) const {
    const auto took = took_.find(server.id);
    if (took != took_.end() && took->second == promise.request) return false;
    const Resources held = held_on(server, host);
    if (held.empty()) return false;
    if (is_requester(promise, server.id)) return true;
    if (took != took_.end()) return false;
    // Nova tells times in whole seconds, cut off.
    const auto since = std::chrono::floor<std::chrono::seconds>(promise.since);
    const bool came_after =
        server.created >= since || (server.launched.has_value() && *server.launched >= since);
    return came_after && server.project == promise.project && held == promise.slot;
}

bool Ledger::evicting(const ServerId& server) const {
    return evictions_.contains(server);
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

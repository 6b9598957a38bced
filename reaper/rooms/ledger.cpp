#include "reaper/rooms/ledger.hpp"

#include <algorithm>
#include <chrono>
#include <tuple>

namespace reaper {
namespace {

template <class Index, class Key>
void forget(Index& index, const Key& key, RoomPromises::Number number) {
    const auto at = index.find(key);
    if (at == index.end()) return;
    at->second.erase(number);
    if (at->second.empty()) index.erase(at);
}

}  // namespace

RoomPromises::Number RoomPromises::add(RoomPromise promise) {
    const Number number = next_++;
    on_[promise.host].insert(number);
    of_[promise.request].insert(number);
    if (!promise.group.empty()) of_group_[promise.group].insert(number);
    if (promise.until)
        until_.emplace(*promise.until, number);
    else
        under_way_[promise.project].insert(number);
    all_.emplace_hint(all_.end(), number, std::move(promise));
    return number;
}

RoomPromise RoomPromises::take(Number number) {
    auto node = all_.extract(number);
    RoomPromise promise = std::move(node.mapped());
    forget(on_, promise.host, number);
    forget(of_, promise.request, number);
    if (!promise.group.empty()) forget(of_group_, promise.group, number);
    forget_time_of(promise, number);
    return promise;
}

void RoomPromises::hold_until(Number number, TimePoint until) {
    RoomPromise& promise = all_.at(number);
    forget_time_of(promise, number);
    promise.until = until;
    until_.emplace(until, number);
}

void RoomPromises::shift(Duration by) {
    until_.clear();
    for (auto& [number, promise] : all_) {
        promise.since += by;
        if (!promise.until) continue;
        *promise.until += by;
        until_.emplace(*promise.until, number);
    }
}

/// It is found by its end, or by having none, no more.
void RoomPromises::forget_time_of(const RoomPromise& promise, Number number) {
    if (promise.until)
        until_.erase({*promise.until, number});
    else
        forget(under_way_, promise.project, number);
}

RoomPromises::Numbers RoomPromises::over(TimePoint now) const {
    Numbers over;
    for (const auto& [until, number] : until_) {
        if (now < until) break;
        over.insert(number);
    }
    return over;
}

namespace {

template <class Key>
void take_out(std::unordered_map<Key, std::set<ServerId>>& index, const Key& key,
              const ServerId& server) {
    const auto at = index.find(key);
    if (at == index.end()) return;
    at->second.erase(server);
    if (at->second.empty()) index.erase(at);
}

}  // namespace

bool promises_room(RequestSource source, const NothingToDo& nothing, bool has_deleted) {
    if (!nothing.pending_releases().empty()) return true;
    const bool kept =
        has_deleted || (source == RequestSource::gateway && nothing.room == ResType::regular);
    return kept && !nothing.hosts.empty();
}

Ledger::Ledger(const std::vector<Eviction>& evictions, std::vector<Promise> promises) {
    for (const Eviction& eviction : evictions) add(eviction);
    for (Promise& promise : promises) add(std::move(promise));
}

// ---- what is held, and its indexes ----

void Ledger::add(Eviction eviction) {
    const auto [at, added] = evictions_.emplace(eviction.server, eviction);
    if (!added) return;
    evictions_of_[eviction.request].insert(eviction.server);
    evictions_on_[eviction.host].insert(eviction.server);
    if (eviction.ended)
        to_look_at_.insert(eviction.host);
    else
        under_way_.insert(eviction.server);
    changes_.add({std::move(eviction.host), std::move(eviction.server)});
}

void Ledger::erase(const ServerId& server) {
    auto node = evictions_.extract(server);
    if (node.empty()) return;
    const Eviction& eviction = node.mapped();
    take_out(evictions_of_, eviction.request, eviction.server);
    take_out(evictions_on_, eviction.host, eviction.server);
    under_way_.erase(eviction.server);
    changes_.add({eviction.host, eviction.server});
}

void Ledger::erase_given_up(const ServerId& server) {
    auto node = given_up_.extract(server);
    if (node.empty()) return;
    take_out(given_up_on_, node.mapped().host, node.key());
    changes_.add({node.mapped().host, node.key()});
}

void Ledger::end(Eviction& eviction, TimePoint now) {
    eviction.ended = now;
    under_way_.erase(eviction.server);
    to_look_at_.insert(eviction.host);
}

std::vector<ServerId> Ledger::servers_of(const RequestId& request) const {
    const auto at = evictions_of_.find(request);
    if (at == evictions_of_.end()) return {};
    return {at->second.begin(), at->second.end()};
}

void Ledger::add(Promise promise) {
    if (promise.until) to_look_at_.insert(promise.host);
    const HostId host = promise.host;
    promises_.add(std::move(promise));
    promises_changed(host);
}

Ledger::Promise Ledger::take(RoomPromises::Number number) {
    Promise promise = promises_.take(number);
    promises_changed(promise.host);
    return promise;
}

std::vector<Ledger::Eviction> Ledger::evictions() const {
    std::vector<Eviction> all;
    all.reserve(evictions_.size());
    for (const auto& [server, eviction] : evictions_) all.push_back(eviction);
    std::sort(all.begin(), all.end(),
              [](const Eviction& a, const Eviction& b) { return a.server < b.server; });
    return all;
}

std::vector<Ledger::Promise> Ledger::promises() const {
    std::vector<Promise> all;
    each_promise([&](const Promise& promise) { all.push_back(promise); });
    return all;
}

std::vector<const Ledger::Promise*> Ledger::found(const RoomPromises::Numbers& numbers) const {
    std::vector<const Promise*> found;
    found.reserve(numbers.size());
    for (const auto number : numbers) found.push_back(&promises_[number]);
    return found;
}

std::vector<const Ledger::Promise*> Ledger::promises_on(const HostId& host) const {
    auto promises = found(promises_.on(host));
    for (const Promise& kept : reserved_.kept_on(host)) promises.push_back(&kept);
    return promises;
}

std::vector<const Ledger::Promise*> Ledger::promises_of(const RequestId& request) const {
    return found(promises_.of(request));
}

std::vector<const Ledger::Promise*> Ledger::promises_of_group(const std::string& group) const {
    return found(promises_.of_group(group));
}

// ---- what happens ----

void Ledger::enter(const Request& request, const Plan& plan, TimePoint now, bool has_deleted) {
    enter(request, plan.hosts, now, has_deleted);
}

void Ledger::enter(const Request& request, const std::vector<HostPlan>& hosts, TimePoint now,
                   bool has_deleted) {
    release_promises(request.id);
    forget_takers_of(request.id);
    for (const ServerId& server : servers_of(request.id)) evictions_.at(server).counted = false;
    std::vector<Resources> groups;
    for (const auto& group : request.groups) groups.push_back(group.resources);
    for (const auto& host : hosts) {
        for (const auto& each : host.pending_releases)
            if (const auto own = evictions_.find(each.server);
                own != evictions_.end() && own->second.request == request.id)
                own->second.counted = true;
        for (const auto& victim : host.victims)
            add(Eviction{request.id, host.host, victim.server, std::nullopt, true});
        if (host.slots <= 0) continue;
        Promise promise{request.id,
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
                        groups};
        for (const auto& each : host.pending_releases)
            if (const auto other = evictions_.find(each.server);
                !has_deleted && other != evictions_.end() && other->second.request != request.id)
                promise.awaits.insert(each.server);
        add(std::move(promise));
    }
}

void Ledger::drop_eviction(const ServerId& server) {
    erase(server);
}

void Ledger::stays(const ServerId& server) {
    const auto at = evictions_.find(server);
    if (at == evictions_.end()) return;
    const auto there = promises_.on(at->second.host);
    erase(server);
    for (const auto number : there)
        if (promises_[number].awaits.contains(server)) take(number);
}

void Ledger::settle(const RequestId& request, TimePoint now, TimePoint until) {
    for (const auto number : promises_.of(request)) {
        promises_.hold_until(number, until);
        to_look_at_.insert(promises_[number].host);
    }
    for (const ServerId& server : servers_of(request)) end(evictions_.at(server), now);
}

void Ledger::hold_until(const RequestId& request, TimePoint until) {
    for (const auto number : promises_.of(request))
        if (promises_[number].until) promises_.hold_until(number, until);
}

void Ledger::watch(const RequestId& request) {
    for (const auto number : promises_.of(request)) promises_.change(number).watched = true;
}

std::vector<Ledger::Settled> Ledger::lapse(const RequestId& request) {
    std::vector<Settled> settled;
    for (const auto* promises : {&promises_, &watched_})
        for (const auto number : promises->of(request)) {
            const Promise& promise = (*promises)[number];
            if (promise.slots > 0)
                settled.push_back(Settled{request, promise.host, std::nullopt, promise.slots});
        }
    release_promises(request);
    return settled;
}

void Ledger::claim(const RequestId& request, const ServerId& server,
                   const std::set<HostId>& hosts) {
    unclaim(request, server);
    for (const auto number : promises_.of(request)) {
        Promise& promise = promises_.change(number);
        if (!hosts.contains(promise.host)) continue;
        if (!promise.is_for(server)) promise.requesters.push_back(server);
        return;
    }
    for (const auto number : promises_.of(request)) {
        Promise& promise = promises_.change(number);
        if (!promise.is_for(server) || promise.kept() == 0) continue;
        promise.elsewhere.insert(server);
        promises_changed(promise.host);
        return;
    }
}

void Ledger::unclaim(const RequestId& request, const ServerId& server) {
    for (const auto number : promises_.of(request)) {
        Promise& promise = promises_.change(number);
        if (promise.elsewhere.erase(server) == 0) continue;
        promises_changed(promise.host);
    }
}

bool Ledger::took_slot(const RequestId& request, const ServerId& server) const {
    const auto took = took_.find(server);
    return took != took_.end() && took->second.request == request;
}

void Ledger::release(const RequestId& request) {
    release_promises(request);
    for (const ServerId& server : servers_of(request)) erase(server);
}

void Ledger::release_promises(const RequestId& request) {
    const auto held = promises_.of(request);
    for (const auto number : held) take(number);
    const auto watched = watched_.of(request);
    for (const auto number : watched) watched_.take(number);
}

void Ledger::give_up_on(const HostId& host, const ServerId& server, TimePoint now) {
    erase_given_up(server);
    given_up_.emplace(server, GivenUp{host, now});
    given_up_on_[host].insert(server);
    to_look_at_.insert(host);
    changes_.add({host, server});
    if (given_up_.size() <= max_given_up) return;
    const ServerId oldest =
        std::min_element(given_up_.begin(), given_up_.end(), [](const auto& a, const auto& b) {
            return std::tie(a.second.at, a.first) < std::tie(b.second.at, b.first);
        })->first;
    erase_given_up(oldest);
}

std::vector<ServerId> Ledger::all_given_up() const {
    std::vector<ServerId> all;
    for (const auto& [server, given_up] : given_up_) all.push_back(server);
    std::sort(all.begin(), all.end());
    return all;
}

void Ledger::reserve(const HostId& host, ReservedRoom::OnHost reserved) {
    const auto tenants = reserved_.put(host, std::move(reserved));
    if (!tenants) return;
    for (const ServerId& tenant : *tenants) changes_.add({host, tenant});
    promises_changed(host);
}

void Ledger::admit(const Request& request) {
    if (!reserved_.admit(request)) return;
    for (const auto number : promises_.of(request.id)) weigh(promises_[number].host);
    reserved_.forget_rights_unless(
        [&](const RequestId& each) { return each == request.id || !promises_.of(each).empty(); });
}

void Ledger::weigh(const HostId& host) {
    if (!reserved_.reserves_on(host)) return;
    reserved_.weigh(host, found(promises_.on(host)));
    changes_.add({host, {}});
}

void Ledger::promises_changed(const HostId& host) {
    changes_.add({host, {}});
    weigh(host);
}

void Ledger::shift(Duration by) {
    promises_.shift(by);
    watched_.shift(by);
    for (auto& [server, eviction] : evictions_)
        if (eviction.ended) *eviction.ended += by;
    for (auto& [server, given_up] : given_up_) given_up.at += by;
    to_look_at_.merge(hosts_of_interest());
}

const Ledger::Eviction* Ledger::eviction(const ServerId& server) const {
    const auto at = evictions_.find(server);
    return at == evictions_.end() ? nullptr : &at->second;
}

std::vector<const Ledger::Eviction*> Ledger::evictions_of(const RequestId& request) const {
    std::vector<const Eviction*> found;
    for (const ServerId& server : servers_of(request)) found.push_back(&evictions_.at(server));
    return found;
}

std::vector<ServerId> Ledger::evicting_on(const HostId& host) const {
    const auto at = evictions_on_.find(host);
    if (at == evictions_on_.end()) return {};
    return {at->second.begin(), at->second.end()};
}

Resources Ledger::promised_to_others(const HostId& host, const RequestId& request) const {
    Resources promised;
    for (const Promise* const promise : promises_on(host))
        if (!reserved_.is_for(*promise, request)) promised += promise->slot * promise->kept();
    return promised;
}

Resources Ledger::promised_to_requests(const HostId& host) const {
    Resources promised;
    for (const Promise* const promise : found(promises_.on(host)))
        promised += promise->slot * promise->kept();
    return promised;
}

std::map<Role, Resources> Ledger::promised_to_roles(const HostId& host) const {
    std::map<Role, Resources> promised;
    for (const Promise* const promise : found(promises_.on(host)))
        if (const Role role = reserved_.role_of(promise->request); !role.empty())
            promised[role] += promise->slot * promise->kept();
    return promised;
}

// What comes to its end by what is seen of the hosts: slots that were taken, promises, evictions.

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

/// Of those who took a slot: what no promise is left for no longer counts.
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

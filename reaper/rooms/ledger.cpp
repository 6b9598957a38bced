#include "reaper/rooms/ledger.hpp"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

namespace reaper {
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

bool promises_room(RequestSource source, const NothingToDo& nothing, bool somebody_died) {
    if (!nothing.pending_releases().empty()) return true;
    const bool kept =
        somebody_died || (source == RequestSource::gateway && nothing.room == ResType::regular);
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
    changes_.add({promise.host, {}});
    if (promise.until) to_look_at_.insert(promise.host);
    const HostId host = promise.host;
    promises_.add(std::move(promise));
    weigh(host);
}

Ledger::Promise Ledger::take(RoomPromises::Number number) {
    Promise promise = promises_.take(number);
    changes_.add({promise.host, {}});
    weigh(promise.host);
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
    if (const auto kept = kept_.find(host); kept != kept_.end())
        for (const Promise& each : kept->second) promises.push_back(&each);
    return promises;
}

std::vector<const Ledger::Promise*> Ledger::promises_of(const RequestId& request) const {
    return found(promises_.of(request));
}

std::vector<const Ledger::Promise*> Ledger::promises_of_group(const std::string& group) const {
    return found(promises_.of_group(group));
}

// ---- what happens ----

void Ledger::enter(const Request& request, const Plan& plan, TimePoint now) {
    enter(request, plan.hosts, now);
}

void Ledger::enter(const Request& request, const std::vector<HostPlan>& hosts, TimePoint now) {
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
        add(Promise{request.id,
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

void Ledger::drop_eviction(const ServerId& server) {
    erase(server);
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
    for (const auto number : promises_.of(request))
        if (hosts.contains(promises_[number].host)) return;
    for (const auto number : promises_.of(request)) {
        Promise& promise = promises_.change(number);
        if (!promise.is_for(server) || promise.kept() == 0) continue;
        promise.elsewhere.insert(server);
        changes_.add({promise.host, {}});
        weigh(promise.host);
        return;
    }
}

void Ledger::unclaim(const RequestId& request, const ServerId& server) {
    for (const auto number : promises_.of(request)) {
        Promise& promise = promises_.change(number);
        if (promise.elsewhere.erase(server) == 0) continue;
        changes_.add({promise.host, {}});
        weigh(promise.host);
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
        if (!is_for(*promise, request)) promised += promise->slot * promise->kept();
    return promised;
}

Resources Ledger::promised_to_requests(const HostId& host) const {
    Resources promised;
    for (const Promise* const promise : found(promises_.on(host)))
        promised += promise->slot * promise->kept();
    return promised;
}

}  // namespace reaper

#include "reaper/cloud/cache/cloud_cache.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <tuple>

#include "reaper/cloud/cache/estimate.hpp"

namespace reaper {
namespace {

/// Far longer than any event is late.
constexpr Duration retention = std::chrono::duration_cast<Duration>(std::chrono::minutes{15});

}  // namespace

bool EventMemory::remember(const ServerId& server, TimePoint sent, TimePoint arrived, bool gone) {
    const auto [at, is_new] = told_.try_emplace(server, Told{sent, arrived, gone});
    if (is_new) return true;
    Told& last = at->second;
    if (last.gone || (!gone && sent < last.sent)) return false;
    last = Told{sent, arrived, gone};
    return true;
}

bool EventMemory::heard_since(const ServerId& server, TimePoint began) const {
    const auto at = told_.find(server);
    return at != told_.end() && at->second.arrived >= began;
}

bool EventMemory::is_gone(const ServerId& server) const {
    const auto at = told_.find(server);
    return at != told_.end() && at->second.gone;
}

void EventMemory::forget_before(TimePoint began) {
    std::erase_if(told_, [&](const auto& t) { return !t.second.gone && t.second.arrived < began; });
}

bool EventMemory::forget_old(TimePoint now) {
    if (now - forgot_at_ < retention / 2) return false;
    forgot_at_ = now;
    std::erase_if(told_, [&](const auto& t) { return now - t.second.arrived > retention; });
    return true;
}

void EventMemory::shift(Duration by) {
    for (auto& [server, told] : told_) told.arrived += by;
    forgot_at_ += by;
}

namespace {

const HostId& first_of_all() {
    static const HostId id;
    return id;
}

}  // namespace

std::vector<HostId> ReadingOrder::due(std::size_t count, TimePoint settled,
                                      TimePoint expired) const {
    std::vector<HostId> found;
    const auto until = [&](Kind kind) {
        if (kind == Kind::touched) return settled + Duration{1};
        return kind == Kind::estimated ? TimePoint::max() : expired;
    };
    for (const Kind kind : {Kind::touched, Kind::estimated, Kind::exact}) {
        const Place first{kind, TimePoint::min(), {}, &first_of_all()};
        for (auto at = order_.lower_bound(first); found.size() < count; ++at) {
            if (at == order_.end() || at->kind != kind || at->since >= until(kind)) break;
            found.push_back(*at->host);
        }
    }
    return found;
}

TimePoint ReadingOrder::oldest_read_at(TimePoint none) const {
    if (order_.empty()) return none;
    TimePoint oldest = TimePoint::max();
    for (const auto& place : order_) {
        if (place.kind != Kind::touched) break;
        oldest = std::min(oldest, place.read_at);
    }
    for (const Kind kind : {Kind::estimated, Kind::exact}) {
        const auto at = order_.lower_bound(Place{kind, TimePoint::min(), {}, &first_of_all()});
        if (at != order_.end()) oldest = std::min(oldest, at->read_at);
    }
    return oldest;
}

namespace {

/// From the lists of a bulk reading to Placement's report of use; and Nova cuts seconds off.
constexpr Duration listing_takes{2'000};
/// From the word that a server is gone to when its room is; far longer than it takes.
constexpr Duration room_leaves_within{60'000};

std::vector<Server>::iterator place_for(Host& host, const ServerId& id) {
    return std::ranges::lower_bound(host.servers, id, {}, &Server::id);
}

Server* find_server(Host& host, const ServerId& id) {
    const auto at = place_for(host, id);
    return at != host.servers.end() && at->id == id ? &*at : nullptr;
}

}  // namespace

// ---- building ----

void CloudCache::replace(Snapshot snapshot, std::shared_ptr<const Taggers> taggers,
                         TagData tag_data) {
    for (auto& host : snapshot.hosts) keep_limits(host);
    for (const auto& [id, entry] : hosts_) index_.erase(id);
    unconfirmed_on_.clear();
    order_.clear();
    hosts_.clear();
    by_service_.clear();
    where_.clear();
    event_memory_.forget_before(snapshot.taken_at);
    for (auto& host : snapshot.hosts) drop_gone(host);
    taggers_ = std::move(taggers);
    tag_data_ = std::move(tag_data);
    remarks_ = std::move(snapshot.remarks);
    built_at_ = snapshot.taken_at;
    stale_ = aggregates_stale_ = services_seen_ = false;
    unfinished_.clear();
    soft_deleted_.clear();
    interner_.prune();
    std::size_t servers = 0;
    for (const auto& host : snapshot.hosts) servers += host.servers.size();
    where_.reserve(servers);
    // Freed at the end, mostly in whole pages: what is kept, texts aside, has pages of its own.
    for (const auto& read : snapshot.hosts) {
        auto kept = std::make_unique<Host>(read);
        Host& host = *kept;
        interner_.share(host);
        const HostId id = host.id;
        by_service_.emplace(host.service_host, id);
        for (const auto& server : host.servers) {
            where_.emplace(server.id, id);
            if (server.soft_deleted()) note_soft_deleted(server.id);
            if (server.unfinished_deletion) unfinished_[server.id].server = server;
        }
        auto& [key, entry] = *hosts_.try_emplace(id).first;
        entry.host = std::move(kept);
        entry.traits_at = entry.listed_at = host.read_at;
        put_in_order(key, entry);
        put_in_index(*entry.host);
    }
}

/// Servers that events called gone while the reading went on.
void CloudCache::drop_gone(Host& host) const {
    const auto is_gone = [&](const Server& server) { return event_memory_.is_gone(server.id); };
    for (const auto& server : host.servers)
        if (is_gone(server)) give_back(host, server);
    std::erase_if(host.servers, is_gone);
}

/// Summaries show no unit limits: those of an exact reading hold while the capacity is the same.
void CloudCache::keep_limits(Host& host) const {
    const Host* const known = host.estimated ? find(host.id) : nullptr;
    if (known == nullptr) return;
    for (auto& provider : host.providers)
        for (const auto& old : known->providers) {
            if (old.id != provider.id) continue;
            for (auto& [name, inventory] : provider.inventories) {
                const auto at = old.inventories.find(name);
                if (at != old.inventories.end() &&
                    at->second.shown_capacity() == inventory.capacity())
                    inventory = at->second;
            }
        }
}

void CloudCache::retag(std::shared_ptr<const Taggers> taggers, TagData tag_data) {
    if (taggers == taggers_ && tag_data == tag_data_) return;
    taggers_ = std::move(taggers);
    tag_data_ = std::move(tag_data);
    for (auto& [id, entry] : hosts_) {
        bool changed = false;
        for (auto& server : entry.host->servers) {
            if (!tag(server, *taggers_, tag_data_)) continue;
            changed = true;
            interner_.share(server);
        }
        if (changed) put_in_index(*entry.host);
    }
}

void CloudCache::set_services(const std::vector<ComputeServiceRecord>& services) {
    std::map<std::string, const ComputeServiceRecord*> by_host;
    for (const auto& service : services) {
        by_host.emplace(service.host, &service);
        if (by_service_.contains(service.host)) continue;
        // One that had no host right after a bulk reading has none (bare metal without a node,
        // ...).
        const bool news = unmatched_services_.insert(service.host).second;
        if (news && services_seen_) stale_ = true;
    }
    services_seen_ = true;
    for (auto& [id, entry] : hosts_) {
        Host& host = *entry.host;
        const auto at = by_host.find(host.service_host);
        const auto before =
            std::tuple(host.enabled, host.up, host.why_unavailable, host.availability_zone);
        set_service(host, at == by_host.end() ? nullptr : at->second);
        if (before !=
            std::tuple(host.enabled, host.up, host.why_unavailable, host.availability_zone))
            put_in_index(host);
    }
}

void CloudCache::set_aggregates(const std::vector<AggregateRecord>& aggregates) {
    aggregates_stale_ = false;
    for (auto& [id, entry] : hosts_) {
        Host& host = *entry.host;
        const auto before = std::tuple(host.aggregates, host.member_of, host.availability_zone);
        in_allowed_aggregates(host, aggregates);
        if (before != std::tuple(host.aggregates, host.member_of, host.availability_zone))
            put_in_index(host);
    }
}

// ---- readings ----

bool CloudCache::apply(const HostReading& reading) {
    const auto at = hosts_.find(reading.host);
    if (at == hosts_.end() || !has_tree(*at->second.host, reading)) {
        stale_ = true;
        return false;
    }
    Host& host = *at->second.host;
    const bool described = describe(at->second, reading);
    if (reading.began < host.read_at) {  // an older one that came late, and may have asked for more
        if (described) put_in_index(host);
        return true;
    }
    if (reading.service) {
        const auto& service = *reading.service;
        set_service(host, service ? &*service : nullptr);
    }
    const TimePoint before = reading.began - Duration{1};
    for (const auto& id : reading.gone)
        if (!event_memory_.heard_since(id, reading.began))
            event_memory_.remember(id, before, before, true);
    const bool leaving =
        reading.servers ? read_servers(host, reading) : read_leavers(host, reading);
    if (leaving) at->second.touched_at = std::max(at->second.touched_at, reading.began);
    set_room(host, reading);
    for (auto& server : host.servers) tag(server, *taggers_, tag_data_);
    interner_.share(host);
    host.read_at = reading.began;
    if (reading.servers) at->second.listed_at = reading.began;
    host.estimated = false;
    put_in_order(at->first, at->second);
    put_in_index(host);
    return true;
}

/// Traits and aggregates, where the reading asked for them and they are no older than what is
/// known. A reading that did not ask for them takes nothing back.
bool CloudCache::describe(Entry& entry, const HostReading& reading) {
    Host& host = *entry.host;
    const bool traits = reading.with_traits && reading.began >= entry.traits_at;
    if (traits) {
        entry.traits_at = reading.began;
        for (auto& provider : host.providers)
            provider.traits = reading.states.at(provider.id).traits;
    }
    const bool aggregates = reading.aggregates && reading.began >= entry.aggregates_at;
    if (aggregates) {
        entry.aggregates_at = reading.began;
        host.placement_aggregates = reading.aggregates;
    }
    return traits || aggregates;
}

void CloudCache::set_holdings(const HostId& id, const ServerId& consumer,
                              const Allocations& holds) {
    const auto at = hosts_.find(id);
    if (at == hosts_.end() || at->second.host->estimated) return;
    Host& host = *at->second.host;
    for (Provider& provider : host.providers) {
        const auto now = holds.find(provider.id);
        const Resources after = now == holds.end() ? Resources{} : now->second;
        Resources& shown = provider.other_consumers[consumer];
        provider.used += after - shown;
        shown = after;
        if (after.empty()) provider.other_consumers.erase(consumer);
    }
    put_in_index(host);
}

void CloudCache::erase(const HostId& id) {
    const auto at = hosts_.find(id);
    if (at == hosts_.end()) return;
    const Host& host = *at->second.host;
    for (const auto& server : host.servers) where_.erase(server.id);
    const auto [first, last] = by_service_.equal_range(host.service_host);
    by_service_.erase(std::find_if(first, last, [&](const auto& s) { return s.second == id; }));
    index_.erase(id);
    unconfirmed_on_.erase(id);
    order_.take(at->second.place);
    hosts_.erase(at);
    stale_ = true;
}

/// Nova's list for the host. Where an event reported a server since, the event is newer.
bool CloudCache::read_servers(Host& host, const HostReading& reading) {
    std::set<ServerId> listed;
    for (const auto& record : *reading.servers) {
        const ServerId& id = record.server.id;
        if (event_memory_.heard_since(id, reading.began) || event_memory_.is_gone(id)) continue;
        // Of a service with several hypervisors: a server is where it holds room.
        if (by_service_.count(host.service_host) > 1 && !holds_on(id, reading)) continue;
        listed.insert(id);
        const auto known = where_.find(id);
        if (known != where_.end() && known->second != host.id) take_server(id, reading.began);
        put_server(host, record, false);
    }
    // Nova's list leaves out what is soft-deleted.
    for (const auto& [id, record] : unfinished_) {
        if (record.server.host != host.service_host || listed.contains(id)) continue;
        if (event_memory_.heard_since(id, reading.began) || !holds_on(id, reading)) continue;
        listed.insert(id);
        put_server(host, record, false);
    }
    std::vector<ServerId> left;
    for (auto& server : host.servers) {
        if (listed.contains(server.id) || event_memory_.heard_since(server.id, reading.began))
            continue;
        if (is_leaving(server.id, reading) && holds_on(server.id, reading))
            server.status = "DELETED";
        else
            left.push_back(server.id);
    }
    for (const auto& id : left) {
        where_.erase(id);
        soft_deleted_.erase(id);
        host.servers.erase(place_for(host, id));
    }
    return read_leavers(host, reading);
}

/// True if a server is leaving.
bool CloudCache::read_leavers(Host& host, const HostReading& reading) {
    std::erase_if(host.servers, [&](const Server& server) {
        const bool left = server.status == "DELETED" && !holds_on(server.id, reading);
        if (left) where_.erase(server.id);
        return left;
    });
    add_leavers(host, reading);
    return std::ranges::any_of(host.servers,
                               [](const Server& server) { return server.status == "DELETED"; });
}

/// Nova reports that a server is gone, by an event or when asked, just before its room leaves
/// Placement's books; and Placement may have been read before Nova. What is left behind for longer
/// is held for good.
void CloudCache::add_leavers(Host& host, const HostReading& reading) {
    for (const auto& [provider, state] : reading.states)
        for (const auto& [id, held] : state.allocations) {
            if (held.empty() || !is_leaving(id, reading) || find_server(host, id) != nullptr)
                continue;
            ServerRecord record;
            if (reading.servers)
                for (const auto& listed : *reading.servers)
                    if (listed.server.id == id) record = listed;
            record.server.id = id;
            record.server.host = host.service_host;
            record.server.status = "DELETED";
            record.server.task_state = {};
            put_server(host, record, false);
        }
}

bool CloudCache::is_leaving(const ServerId& server, const HostReading& reading) const {
    return event_memory_.is_gone(server) &&
           event_memory_.heard_since(server, reading.began - room_leaves_within);
}

std::vector<ServerId> CloudCache::unlisted(const HostReading& reading) const {
    std::vector<ServerId> found;
    const Host* const host = find(reading.host);
    if (host == nullptr || !reading.servers) return found;
    std::set<ServerId> listed;
    for (const auto& record : *reading.servers) listed.insert(record.server.id);
    for (const auto& server : host->servers)
        if (!listed.contains(server.id) && holds_on(server.id, reading) &&
            !server.unfinished_deletion && !event_memory_.is_gone(server.id) &&
            !event_memory_.heard_since(server.id, reading.began))
            found.push_back(server.id);
    return found;
}

const Server* CloudCache::find(const ServerId& id) const {
    const auto at = where_.find(id);
    const Host* const host = at == where_.end() ? nullptr : find(at->second);
    if (host == nullptr) return nullptr;
    for (const auto& server : host->servers)
        if (server.id == id) return &server;
    return nullptr;
}

bool CloudCache::holds_on(const ServerId& server, const HostReading& reading) {
    return std::ranges::any_of(reading.states, [&](const auto& state) {
        return state.second.allocations.contains(server);
    });
}

// ---- events ----

void CloudCache::apply(const CloudEvent& event, TimePoint arrived) {
    if (event_memory_.forget_old(arrived)) interner_.prune();
    if (const auto* seen = std::get_if<ServerSeen>(&event)) see(*seen, arrived);
    if (const auto* gone = std::get_if<ServerGone>(&event)) lose(*gone, arrived);
    if (const auto* service = std::get_if<ServiceSeen>(&event)) see(*service, arrived);
    if (std::holds_alternative<AggregatesChanged>(event)) aggregates_stale_ = true;
}

void CloudCache::see(const ServerSeen& event, TimePoint arrived) {
    const Server& server = event.record.server;
    if (server.status == "DELETED") {
        lose(ServerGone{server.id, server.host, event.at}, arrived);
        return;
    }
    if (event.reporter != server.host) {  // a move takes or frees room there
        const auto [first, last] = by_service_.equal_range(event.reporter);
        for (auto at = first; at != last; ++at) touch(at->second, arrived);
    }
    const auto before = where_.find(server.id);
    if (!event_memory_.remember(server.id, event.at, arrived, false)) {
        // Nova's clocks may differ from host to host: a reading shows which is right.
        if (before != where_.end()) touch(HostId{before->second}, arrived);
        return;
    }
    const HostId* const place = place_of(server.host, event.node);
    const auto known = where_.find(server.id);
    if (known != where_.end() && (place == nullptr || known->second != *place))
        take_server(server.id, arrived);
    if (place == nullptr) {
        const bool news = !server.host.empty() && !unmatched_services_.contains(server.host);
        stale_ = stale_ || news;
        return;
    }
    Host& host = *hosts_.at(*place).host;
    put_server(host, event.record, true);
    touch(*place, arrived);
}

void CloudCache::lose(const ServerGone& event, TimePoint arrived) {
    unfinished_.erase(event.id);
    if (!event_memory_.remember(event.id, event.at, arrived, true)) return;
    if (where_.contains(event.id)) return take_server(event.id, arrived);
    // Nova's list for its host may have left it out already, and Placement's not.
    const auto [first, last] = by_service_.equal_range(event.host);
    for (auto at = first; at != last; ++at)
        if (drop_consumer(*hosts_.at(at->second).host, event.id)) touch(at->second, arrived);
}

void CloudCache::see(const ServiceSeen& event, TimePoint arrived) {
    const auto [first, last] = by_service_.equal_range(event.record.host);
    const bool unknown = first == last && !unmatched_services_.contains(event.record.host);
    if (unknown || event.removed) stale_ = true;
    for (auto at = first; at != last; ++at) {
        Host& host = *hosts_.at(at->second).host;
        host.enabled = event.record.enabled && !event.removed;
        // Only a forced state is reported: the next reading shows whether it is alive.
        host.up = host.up && event.record.up;
        host.why_unavailable = event.record.disabled_reason;
        touch(host.id, arrived);
    }
}

void CloudCache::shift(Duration by) {
    event_memory_.shift(by);
    for (auto& [id, entry] : hosts_) {
        for (TimePoint* const time : {&entry.touched_at, &entry.listed_at, &entry.traits_at,
                                      &entry.aggregates_at, &entry.host->read_at})
            if (*time != TimePoint{}) *time += by;
        put_in_order(id, entry);
    }
}

// ---- servers ----

/// `estimate`: what it holds follows its flavor until the host is read; otherwise it is set by the
/// reading that it comes with.
void CloudCache::put_server(Host& host, const ServerRecord& record, bool estimate) {
    auto at = place_for(host, record.server.id);
    const bool known = at != host.servers.end() && at->id == record.server.id;
    Server next = record.server;
    if (known) {
        next.allocations = at->allocations;
        if (estimate) next.tags = at->tags;  // events do not contain them
    }
    const bool listed = estimate && !known && adopt(host, next);
    if (estimate && !listed && (!known || at->flavor_name != next.flavor_name)) {
        if (known) give_back(host, *at);
        next.allocations = estimate_allocations(record, host.providers);
        // What Placement reported after Nova's list may have it already.
        const bool older = !known && next.created <= host.read_at + listing_takes;
        if (!older || !adopt_unread(host, next)) take_up(host, next);
    }
    next.unfinished_deletion = next.soft_deleted() && unfinished_.contains(next.id);
    if (next.soft_deleted()) note_soft_deleted(next.id);
    tag(next, *taggers_, tag_data_);
    if (estimate) interner_.share(next);
    if (known) {
        *at = std::move(next);
        return;
    }
    where_.insert_or_assign(next.id, host.id);
    host.servers.insert(at, std::move(next));
}

bool CloudCache::set_unfinished(const std::vector<ServerRecord>& records, TimePoint began) {
    std::map<ServerId, ServerRecord> known;
    for (const auto& record : records) {
        const ServerId& id = record.server.id;
        const Server* const now = server_at(id);
        const bool restored =
            event_memory_.heard_since(id, began) && now != nullptr && !now->soft_deleted();
        if (!event_memory_.is_gone(id) && !restored) known.emplace(id, record);
    }
    bool changed = false;
    known.swap(unfinished_);
    for (const auto& [id, record] : known) {
        const auto at = where_.find(id);
        if (unfinished_.contains(id) || at == where_.end()) continue;
        // The next reading of its host shows whether it is restored or gone.
        Host& host = *hosts_.at(at->second).host;
        if (Server* const server = find_server(host, id)) server->unfinished_deletion = false;
        put_in_index(host);
        changed = true;
    }
    for (const auto& [id, record] : unfinished_) {
        const Server* const now = server_at(id);
        if (now != nullptr && now->unfinished_deletion) continue;
        const auto at = where_.find(id);
        const HostId* const place =
            at != where_.end() ? &at->second : place_of(record.server.host, {});
        if (place == nullptr) continue;
        Host& host = *hosts_.at(*place).host;
        put_server(host, record, true);
        put_in_index(host);
        changed = true;
    }
    return changed;
}

std::vector<ServerRecord> CloudCache::soft_deleted() const {
    std::vector<ServerRecord> found;
    for (const auto& id : soft_deleted_) {
        const Server* const server = server_at(id);
        if (server == nullptr || !server->soft_deleted()) continue;
        ServerRecord record;
        record.server = *server;
        found.push_back(std::move(record));
    }
    return found;
}

const Server* CloudCache::server_at(const ServerId& id) const {
    const auto at = where_.find(id);
    return at == where_.end() ? nullptr : find_server(*hosts_.at(at->second).host, id);
}

/// Off the host that it is known on, with its room.
void CloudCache::take_server(const ServerId& id, TimePoint arrived) {
    const auto known = where_.find(id);
    const HostId place = known->second;
    where_.erase(known);
    soft_deleted_.erase(id);
    Host& host = *hosts_.at(place).host;
    if (Server* const server = find_server(host, id)) {
        give_back(host, *server);
        host.servers.erase(place_for(host, id));
    }
    touch(place, arrived);
}

void CloudCache::touch(const HostId& id, TimePoint arrived) {
    const auto at = hosts_.find(id);
    Entry& entry = at->second;
    entry.touched_at = std::max(entry.touched_at, arrived);
    put_in_order(at->first, entry);
    put_in_index(*entry.host);
}

/// `id`: the key of the entry.
void CloudCache::put_in_order(const HostId& id, Entry& entry) {
    if (entry.place.host != nullptr) order_.take(entry.place);
    const Host& host = *entry.host;
    entry.place = {ReadingOrder::Kind::exact, entry.listed_at, entry.listed_at, &id};
    if (entry.touched_at >= entry.listed_at && entry.touched_at != TimePoint{}) {
        entry.place.kind = ReadingOrder::Kind::touched;
        entry.place.since = entry.touched_at;
    } else if (host.estimated) {
        entry.place.kind = ReadingOrder::Kind::estimated;
    }
    order_.put(entry.place);
}

/// The host that runs the server: by its service, and by its node where a service has several.
const HostId* CloudCache::place_of(const std::string& service_host, const std::string& node) const {
    if (service_host.empty()) return nullptr;
    const auto [first, last] = by_service_.equal_range(service_host);
    if (first == last) return nullptr;
    for (auto at = first; at != last; ++at)
        if (hosts_.at(at->second).host->name == node) return &at->second;
    return &first->second;
}

// ---- looking ----

std::vector<HostId> CloudCache::stale_hosts_of(const ServerId& server,
                                               const std::string& service_host) const {
    std::vector<HostId> hosts;
    const auto known = where_.find(server);
    if (known != where_.end()) {
        if (hosts_.at(known->second).host->service_host == service_host) return hosts;
        hosts.push_back(known->second);
    }
    const auto [first, last] = by_service_.equal_range(service_host);
    for (auto at = first; at != last; ++at) hosts.push_back(at->second);
    return hosts;
}

bool CloudCache::changed_since_read(const HostId& id) const {
    const auto at = hosts_.find(id);
    return at != hosts_.end() && at->second.touched_at > at->second.host->read_at;
}

std::vector<const Host*> CloudCache::hosts() const {
    std::vector<const Host*> all;
    for (const auto& [id, entry] : hosts_) all.push_back(entry.host.get());
    return all;
}

const Host* CloudCache::find(const HostId& id) const {
    const auto at = hosts_.find(id);
    return at == hosts_.end() ? nullptr : at->second.host.get();
}

std::vector<HostId> CloudCache::due(std::size_t count, TimePoint settled, TimePoint expired) const {
    return order_.due(count, settled, expired);
}

CacheAges CloudCache::ages() const {
    return {hosts_.size(), where_.size(), built_at_, order_.oldest_read_at(built_at_)};
}

std::vector<Resources> CloudCache::common_shapes(std::size_t count) const {
    struct ShapeCount {
        Resources resources;
        std::size_t servers = 0;
    };
    std::map<SharedText, ShapeCount> by_flavor;
    for (const auto& [id, entry] : hosts_)
        for (const auto& server : entry.host->servers) {
            if (server.allocations.empty()) continue;
            ShapeCount& shape = by_flavor[server.flavor_name];
            if (shape.servers++ == 0) shape.resources = server.resources();
        }
    std::vector<std::pair<std::size_t, SharedText>> order;
    for (const auto& [flavor, shape] : by_flavor) order.emplace_back(shape.servers, flavor);
    std::ranges::sort(order, std::greater<>{});
    std::vector<Resources> shapes;
    for (const auto& [servers, flavor] : order)
        if (shapes.size() < count) shapes.push_back(by_flavor.at(flavor).resources);
    return shapes;
}

// What resizes left behind on the hosts that servers came from, until they are confirmed: held in
// Placement by consumers that Nova's list of migrations names.

namespace {

bool waits(const Server& server) {
    return server.status == "VERIFY_RESIZE" && !server.being_deleted();
}

Allocations held_by(const ServerId& consumer, const Host& host) {
    Allocations held;
    for (const auto& provider : host.providers)
        if (const auto at = provider.other_consumers.find(consumer);
            at != provider.other_consumers.end() && !at->second.empty())
            held.emplace(provider.id, at->second);
    return held;
}

}  // namespace

void CloudCache::put_in_index(const Host& host) {
    index_.put(host);
    const bool some = std::ranges::any_of(
        host.servers, [](const Server& server) { return server.revocable() && waits(server); });
    if (some)
        unconfirmed_on_.insert(host.id);
    else
        unconfirmed_on_.erase(host.id);
}

void CloudCache::set_resizes(std::vector<UnconfirmedResize> resizes) {
    std::ranges::sort(resizes, [](const auto& a, const auto& b) {
        return std::pair(a.server, a.holder) < std::pair(b.server, b.holder);
    });
    resizes_ = std::move(resizes);
}

std::map<ServerId, std::string> CloudCache::unconfirmable() const {
    std::map<ServerId, std::string> all;
    for (const auto& resize : resizes_) {
        const Server* const server = find(resize.server);
        const auto [first, last] = by_service_.equal_range(resize.source_host);
        if (server == nullptr || !waits(*server) || first == last) continue;
        const bool up = std::any_of(first, last, [this](const auto& each) {
            const Host* const source = find(each.second);
            return source == nullptr || source->up;
        });
        if (!up) all.emplace(server->id, why_unconfirmable(resize.source_host));
    }
    return all;
}

bool CloudCache::link_resizes() {
    if (resizes_.empty() && left_behind_on_.empty()) return false;
    std::map<HostId, std::vector<Server>> wanted;
    for (const HostId& host : left_behind_on_) wanted.try_emplace(host);
    for (const auto& resize : resizes_) {
        const Server* const server = find(resize.server);
        if (server == nullptr || !waits(*server)) continue;
        const auto [first, last] = by_service_.equal_range(resize.source_host);
        for (auto at = first; at != last; ++at) {
            const Host* const source = find(at->second);
            if (source == nullptr) continue;
            Server left = *server;
            left.allocations = held_by(resize.holder, *source);
            if (left.allocations.empty()) continue;
            left.host = source->service_host;
            left.held_by = resize.holder;
            wanted[source->id].push_back(std::move(left));
        }
    }
    bool news = false;
    for (auto& [id, left] : wanted) {
        const auto at = hosts_.find(id);
        if (at == hosts_.end() || left.empty()) left_behind_on_.erase(id);
        if (at == hosts_.end()) continue;
        if (!left.empty()) left_behind_on_.insert(id);
        Host& host = *at->second.host;
        if (host.left_behind == left) continue;
        host.left_behind = std::move(left);
        put_in_index(host);
        news = true;
    }
    return news;
}

}  // namespace reaper

#include "reaper/controllers/oversubscription/room_publisher.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "reaper/model/text.hpp"
#include "reaper/model/time.hpp"
#include "reaper/oversubscription/host_facts.hpp"
#include "reaper/oversubscription/parameter_text.hpp"
#include "reaper/runtime/async.hpp"
#include "reaper/runtime/log.hpp"
#include "reaper/setup/slots.hpp"

namespace reaper {

void IdleNamesLog::look(const std::shared_ptr<const OversubscriptionPolicy>& policy,
                        const std::vector<const Host*>& hosts) {
    if (policy_ == policy && hosts_ == hosts.size()) return;
    policy_ = policy;
    hosts_ = hosts.size();
    std::vector<HostFacts> facts;
    facts.reserve(hosts.size());
    for (const Host* const host : hosts) facts.push_back(facts_of(*host));
    const auto& configured = policy->configured;
    std::set<std::string> all;
    for (const auto& name :
         idle_names(configured.hosts, configured.aggregates, *policy->estimator, facts)) {
        std::string line = name.key + ": " + name.detail;
        if (!told_.contains(line)) spdlog::warn("{}", line);
        all.insert(std::move(line));
    }
    told_ = std::move(all);
}

namespace {

constexpr const char* left_alone_kind = "host-left-alone";
/// As long ago as an event can be that makes the quiet time longer which began last: each is twice
/// the one before, up to the longest.
Duration remembers(const PublicationRules& rules) {
    const RetrySettings& quiet = rules.quiet;
    int doublings = 1;
    for (Duration each = std::max(quiet.retry_after, Duration{1}); each < quiet.max_retry_after;
         each *= 2)
        ++doublings;
    return (quiet.max_retry_after + 2 * rules.flap_window) * doublings;
}

}  // namespace

JournalEvent left_alone_event(const HostId& host, const std::string& name, const Circuit& quiet,
                              TimePoint now) {
    JournalEvent event;
    event.kind = left_alone_kind;
    event.reason = host.str() + " (" + printable(name, 64) +
                   "): its oversubscribed room went up and down too often";
    if (const auto until = quiet.until())
        event.reason += "; it does not rise for " + format_duration(*until - now);
    event.at = now;
    return event;
}

ResultTask<std::map<HostId, Circuit>> left_alone_hosts(JournalReader& journal,
                                                       PublicationRules rules, TimePoint now) {
    std::map<HostId, Circuit> hosts;
    if (rules.flaps == 0) co_return hosts;
    JournalQuery query;
    query.kind = left_alone_kind;
    query.since = now - remembers(rules);
    query.limit = std::numeric_limits<int>::max();
    auto events = co_await journal.find_events(std::move(query));
    if (!events) co_return events.error();
    std::map<HostId, std::vector<TimePoint>> times;
    for (const JournalEvent& event : *events)
        times[HostId{event.reason.substr(0, event.reason.find(' '))}].push_back(
            std::min(event.at, now));  // the clock may have been set back
    for (auto& [host, at] : times) {
        std::sort(at.begin(), at.end());
        hosts.emplace(host, left_alone_since(at, rules));
    }
    co_return hosts;
}

namespace {

constexpr std::size_t rooms_at_a_time = 8;

const Provider* nested_provider(const Host& host, const ResourceClass& room_class) {
    const std::string name = slot_provider_name(host.name, room_class);
    const auto at = std::find_if(
        host.providers.begin(), host.providers.end(),
        [&](const Provider& each) { return each.name == name && each.parent == host.id; });
    return at == host.providers.end() ? nullptr : &*at;
}

}  // namespace

std::optional<NestedRoom> NestedRooms::of(const Host& host, const ResourceClass& room_class) const {
    const Provider* const provider = nested_provider(host, room_class);
    const auto known = exact_.find(host.id);
    if (known != exact_.end()) {
        const Exact& exact = known->second;
        const bool unseen = exact.differs && exact.build == refresher_.build();
        if (unseen || exact.at >= host.read_at) return exact.room;
    }
    NestedRoom room;
    if (provider == nullptr) return room;
    if (host.estimated) return std::nullopt;
    room.provider = provider->id;
    room.used = provider->used.get(room_class);
    const auto inventory = provider->inventories.find(room_class);
    if (inventory != provider->inventories.end()) room.inventory = inventory->second;
    return room;
}

Task<std::map<HostId, std::string>> NestedRooms::read(ResourceClass room_class) {
    std::map<HostId, std::string> failed;
    std::vector<HostId> unread;
    for (const Host* const host : refresher_.cache().hosts())
        if (!of(*host, room_class)) unread.push_back(host->id);
    for (std::size_t from = 0; from < unread.size(); from += rooms_at_a_time) {
        std::vector<Task<void>> some;
        for (std::size_t i = from; i < std::min(from + rooms_at_a_time, unread.size()); ++i)
            some.push_back(read_one(unread[i], room_class, failed));
        co_await run_all(std::move(some));
    }
    co_return failed;
}

Task<void> NestedRooms::read_one(HostId id, ResourceClass room_class,
                                 std::map<HostId, std::string>& failed) {
    const Host* const host = refresher_.cache().find(id);
    const Provider* const provider = host == nullptr ? nullptr : nested_provider(*host, room_class);
    if (provider == nullptr) co_return;
    NestedRoom room;
    room.provider = provider->id;
    ProviderId asked = provider->id;
    const TimePoint began = cloud_.clock.now();
    auto state = co_await cloud_.placement.room(std::move(asked));
    if (!state && state.error().code != Errc::not_found) {
        failed[id] = state.error().what;
        co_return;
    }
    if (!state) co_return note(id, NestedRoom{});
    const auto inventory = state->inventories.find(room_class);
    if (inventory != state->inventories.end()) room.inventory = inventory->second;
    for (const auto& [consumer, held] : state->allocations) room.used += held.get(room_class);
    exact_.insert_or_assign(id, Exact{std::move(room), began, refresher_.build(), false});
}

void NestedRooms::note(const HostId& host, NestedRoom room) {
    const Host* const cached = refresher_.cache().find(host);
    const bool there = cached != nullptr &&
                       std::any_of(cached->providers.begin(), cached->providers.end(),
                                   [&](const Provider& each) { return each.id == room.provider; });
    exact_.insert_or_assign(host,
                            Exact{std::move(room), cloud_.clock.now(), refresher_.build(), !there});
}

bool NestedRooms::differ_from_cache() const {
    return std::any_of(exact_.begin(), exact_.end(), [&](const auto& each) {
        return each.second.differs && each.second.build == refresher_.build();
    });
}

void NestedRooms::prune() {
    std::erase_if(exact_,
                  [&](const auto& each) { return refresher_.cache().find(each.first) == nullptr; });
}

void NestedRooms::shift(Duration by) {
    for (auto& [host, exact] : exact_) exact.at += by;
}

namespace {

using Kind = InventoryStep::Kind;

constexpr Duration write_deadline{5000};
/// Hosts that are read and written side by side.
constexpr std::size_t written_at_a_time = 8;

bool same_inventory(const std::optional<Inventory>& found, const Published& wanted) {
    if (!found || wanted.total == 0) return !found && wanted.total == 0;
    const Amount unit = wanted.closed ? closed_min_unit : 1;
    return is_inventory_of(*found, wanted.total, unit);
}

}  // namespace

// ---- what a host is to have ----

Estimate RoomPublisher::estimate_of(const Host& host, const OversubscriptionPolicy& policy) const {
    if (!policy.covers(host)) {
        Estimate none;
        none.known = true;
        none.why = "the host is not one of those that are oversubscribed";
        return none;
    }
    HostUsage usage;
    usage.host = host.id;
    if (policy.estimator->measures() && dependencies_.metrics != nullptr)
        usage = dependencies_.metrics->usage_of(host.id);
    else if (policy.estimator->measures())
        usage.why_unknown = "nothing is measured: there is no oversubscription.prometheus.url";
    return policy.estimator->estimate(facts_of(host), usage);
}

/// As they are measured; else as Placement has them.
double RoomPublisher::cores_of(const Host& host, const OversubscriptionPolicy& policy) const {
    if (policy.estimator->measures() && dependencies_.metrics != nullptr) {
        const HostUsage usage = dependencies_.metrics->usage_of(host.id);
        if (usage.known()) return usage.cores;
    }
    return static_cast<double>(facts_of(host).vcpus);
}

RoomPublisher::Wish RoomPublisher::wish(const Host& host, Known& known,
                                        const OversubscriptionPolicy& policy) {
    const NestedRoom room = rooms_.of(host, policy.room_class).value_or(NestedRoom{});
    const Amount found = room.inventory ? published_room(*room.inventory) : 0;
    const bool is_new = known.shown.host.empty();
    if (is_new && left_alone_)
        if (const auto at = left_alone_->find(host.id); at != left_alone_->end())
            known.state.quiet = at->second;
    if ((is_new || !dry_run()) && found != known.state.total) {
        if (!is_new)
            spdlog::warn("oversubscription: another client set the room of {} to {}, which was {}",
                         printable(host.name, 64), found, known.state.total);
        known.state.total = found;
    }
    Estimate estimate = estimate_of(host, policy);
    known.shown.wanted = estimate.known ? std::optional{estimate.rise_to} : std::nullopt;
    const bool exact = facts_of(host).exact;
    // Without the journal it is not known which hosts flapped.
    const bool awaited = dependencies_.load_awaited && dependencies_.load_awaited(host.id);
    if (awaited && estimate.rise_to > known.state.total)
        estimate.why = "nothing new until it is known how busy the host is; " + estimate.why;
    if (dependencies_.paused() || !left_alone_ || awaited || !exact)
        estimate.rise_to = std::min(estimate.rise_to, known.state.total);
    RoomInUse in_use;
    in_use.used = room.used;
    in_use.too_busy = dependencies_.too_busy && dependencies_.too_busy(host.id);
    in_use.cores = cores_of(host, policy);
    Wish made;
    made.unread = !exact && known.shown.wanted.value_or(found + 1) > found;
    made.published = next_published(known.state, estimate, in_use, dependencies_.cloud.clock.now(),
                                    policy.configured.publication);
    known.shown.host = host.id;
    known.shown.name = host.name;
    known.shown.published = known.state.total;
    known.shown.used = room.used;
    known.shown.too_busy = in_use.too_busy;
    known.shown.excess = made.published.excess;
    known.shown.left_alone = made.published.left_alone;
    known.shown.why = made.published.why;
    if (same_inventory(room.inventory, made.published)) return made;

    WantedRoom wanted{host.id, host.name, {}, made.published.total, made.published.closed};
    for (const auto& provider : host.providers)
        if (!provider.parent.empty() && provider.id != room.provider)
            wanted.nested.push_back(provider);
    if (!room.provider.empty()) {
        Provider ours;
        ours.id = room.provider;
        ours.name = slot_provider_name(host.name, policy.room_class);
        ours.parent = host.id;
        if (room.used > 0) ours.used.set(policy.room_class, room.used);
        for (const auto& provider : host.providers)
            if (provider.id == room.provider) ours.inventories = provider.inventories;
        ours.inventories.erase(policy.room_class);
        if (room.inventory) ours.inventories.emplace(policy.room_class, *room.inventory);
        wanted.nested.push_back(std::move(ours));
    }
    std::vector<ProviderRecord> same_name;
    if (room.provider.empty())
        same_name = providers_named(slot_provider_name(host.name, policy.room_class));
    made.step = inventory_plan({wanted}, same_name, policy.room_class).front();
    return made;
}

const std::vector<ProviderRecord>& RoomPublisher::providers_named(const std::string& name) {
    static const std::vector<ProviderRecord> none;
    if (!providers_) {
        providers_.emplace();
        for (const Host* const host : dependencies_.refresher.cache().hosts())
            for (const auto& provider : host->providers)
                (*providers_)[provider.name].push_back(
                    {provider.id, provider.name, provider.parent, host->id});
    }
    const auto at = providers_->find(name);
    return at == providers_->end() ? none : at->second;
}

// ---- an interval ----

ResultTask<void> RoomPublisher::publish() {
    const Policy policy = dependencies_.settings.oversubscription;
    const std::uint64_t epoch = dependencies_.serving();
    if (!policy || epoch != epoch_) {
        known_.clear();
        rooms_.clear();
        left_alone_.reset();
    }
    epoch_ = policy ? epoch : 0;
    if (!policy || epoch == 0 || !dependencies_.refresher.built()) co_return Result<void>{};
    auto journal = co_await know_left_alone(policy);
    // Without events only this keeps the cache fresh between decisions.
    Result<void> fresh;
    if (!dependencies_.refresher.flowing())
        fresh = co_await dependencies_.refresher.rebuild_unless_recent();
    ResourceClass room_class = policy->room_class;
    const auto unread = co_await rooms_.read(std::move(room_class));
    const auto hosts = dependencies_.refresher.cache().hosts();
    idle_names_.look(policy, hosts);
    std::erase_if(known_, [&](const auto& each) {
        return dependencies_.refresher.cache().find(each.first) == nullptr;
    });
    rooms_.prune();
    providers_.reset();
    std::vector<HostId> falls, rises;
    std::vector<const Host*> told;
    for (const Host* const host : hosts) {
        const auto at = known_.find(host->id);
        const auto room = rooms_.of(*host, policy->room_class);
        if (const auto why = unread.find(host->id); why != unread.end()) {
            known_[host->id].shown.name = host->name;
            refuse(known_[host->id], why->second);
        }
        if (!room) continue;
        if (!policy->covers(*host) && !room->inventory) {
            if (at != known_.end()) known_.erase(at);
            continue;
        }
        Known& known = known_[host->id];
        const Wish wanted = wish(*host, known, *policy);
        told.push_back(host);
        if (wanted.step.kind == Kind::keep && !wanted.unread &&
            !may_evict(*host, wanted.published, *policy))
            known.state = wanted.published.state;
        else
            (wanted.step.to > wanted.step.from ? rises : falls).push_back(host->id);
    }
    see_whether_known(told);
    falls.insert(falls.end(), rises.begin(), rises.end());
    for (std::size_t from = 0; from < falls.size(); from += written_at_a_time) {
        std::vector<Task<void>> some;
        for (std::size_t i = from; i < std::min(from + written_at_a_time, falls.size()); ++i)
            some.push_back(publish_on(falls[i], policy, epoch));
        co_await run_all(std::move(some));
    }
    if (rooms_.differ_from_cache())
        fresh = co_await dependencies_.refresher.rebuild_unless_recent();
    if (!journal) co_return journal;
    co_return fresh;
}

ResultTask<void> RoomPublisher::know_left_alone(Policy policy) {
    if (left_alone_) co_return Result<void>{};
    auto left_alone = co_await left_alone_hosts(
        dependencies_.journal, policy->configured.publication, dependencies_.cloud.clock.now());
    if (!left_alone) co_return left_alone.error();
    left_alone_ = std::move(*left_alone);
    for (auto& [id, known] : known_)
        if (const auto at = left_alone_->find(id); at != left_alone_->end())
            known.state.quiet = at->second;
    co_return Result<void>{};
}

/// Whether any server would be evicted for it: if none, the host need not be read for it.
bool RoomPublisher::may_evict(const Host& host, const Published& published,
                              const OversubscriptionPolicy& policy) const {
    return published.excess > 0 && policy.configured.excess == "evict" && !dependencies_.paused() &&
           dependencies_.corrections.may_correct(host, CorrectionSource::estimator);
}

/// An old reading evicts no server and closes no host, and capacities alone sell nothing.
Task<void> RoomPublisher::publish_on(HostId id, Policy policy, std::uint64_t epoch) {
    const Host* host = dependencies_.refresher.cache().find(id);
    if (host == nullptr) co_return;
    Wish wanted = wish(*host, known_[id], *policy);
    const bool takes = wanted.unread || wanted.published.excess > 0 || wanted.published.closed ||
                       wanted.step.kind == Kind::remove_inventory ||
                       (host->estimated && wanted.step.to < wanted.step.from);
    if (takes) {
        std::vector<HostId> ids{id};
        auto read = co_await dependencies_.refresher.read_hosts(std::move(ids), HostDepth::state);
        host = dependencies_.refresher.cache().find(id);
        if (!read) refuse(known_[id], read.error().what);
        if (!read || host == nullptr) co_return;
        wanted = wish(*host, known_[id], *policy);
    }
    co_await carry_out(std::move(id), std::move(wanted), std::move(policy), epoch);
}

Task<void> RoomPublisher::carry_out(HostId id, Wish wanted, Policy policy, std::uint64_t epoch) {
    if (dependencies_.stopping || dependencies_.serving() != epoch ||
        !dependencies_.journal_is_ours() || dependencies_.settings.oversubscription != policy)
        co_return;
    bool done = wanted.step.kind == Kind::keep || dry_run();
    if (!done) {
        HostId on = id;
        ResourceClass room_class = policy->room_class;
        done = co_await write(std::move(on), wanted.step, std::move(room_class));
    }
    const Host* const host = dependencies_.refresher.cache().find(id);
    if (!done || host == nullptr) co_return;
    Known& known = known_[id];
    known.refused.clear();
    tell(*host, known, known.state.total, wanted.published);
    const Circuit before = known.state.quiet;
    known.state = wanted.published.state;
    known.shown.published = known.state.total;
    evict_excess(*host, wanted.published, *policy);
    co_await note_flapping(std::move(id), before);
}

Task<void> RoomPublisher::note_flapping(HostId id, Circuit before) {
    const auto known = known_.find(id);
    const TimePoint now = dependencies_.cloud.clock.now();
    if (known == known_.end()) co_return;
    const Circuit& quiet = known->second.state.quiet;
    if (!quiet.until() || quiet.until() == before.until()) co_return;
    if (left_alone_) left_alone_->insert_or_assign(id, quiet);
    JournalEvent event =
        left_alone_event(id, known->second.shown.name, known->second.state.quiet, now);
    spdlog::info("oversubscription: left alone: {}", event.reason);
    auto noted = co_await dependencies_.journal.note_event(std::move(event));
    if (!noted)
        spdlog::warn("oversubscription: a restart will not know of it: {}", noted.error().what);
}

/// Whether it is done.
Task<bool> RoomPublisher::write(HostId id, InventoryStep step, ResourceClass room_class) {
    Placement& placement = dependencies_.cloud.placement;
    if (step.kind == Kind::refuse) refuse(known_[id], step.why);
    if (step.kind == Kind::create_provider) {
        HostId parent = id;
        auto made =
            co_await placement.create_provider(step.name, std::move(parent), write_deadline);
        if (!made) refuse(known_[id], made.error().what);
        if (made) step.provider = std::move(*made);
    }
    if (step.kind == Kind::refuse || step.provider.empty()) co_return false;
    TotalChange change;
    change.provider = step.provider;
    change.resource_class = std::move(room_class);
    change.from = step.from;
    change.to = step.to;
    change.min_unit = step.min_unit;
    auto answer = co_await placement.change_total(change, write_deadline);
    if (!answer && answer.error().code == Errc::not_found) rooms_.note(id, NestedRoom{});
    if (!answer) {
        refuse(known_[id], answer.error().what);
        co_return false;
    }
    NestedRoom room{step.provider, answer->found, known_[id].shown.used};
    if (answer->done && answer->found.allocation_ratio != 1.0)
        spdlog::warn(
            "oversubscription: another client gave the room of {} an allocation_ratio of {}, "
            "which is set back to 1",
            printable(known_[id].shown.name, 64), decimal_text(answer->found.allocation_ratio));
    if (answer->done) room.inventory = inventory_after(change, answer->found);
    if (room.inventory->total == 0) room.inventory.reset();
    rooms_.note(id, std::move(room));
    co_return answer->done;
}

/// Held beyond what may stay, by the cache: holders go while something is written. None: unknown.
std::optional<Amount> RoomPublisher::excess_on(const Host& host,
                                               const OversubscriptionPolicy& policy) const {
    const Estimate estimate = estimate_of(host, policy);
    const PublicationRules& rules = policy.configured.publication;
    const TimePoint now = dependencies_.cloud.clock.now();
    if (!estimate.known || now - estimate.measured_at.value_or(now) > rules.max_age)
        return std::nullopt;
    RoomInUse in_use;
    in_use.used = oversubscribed_on(host, policy.room_class);
    return next_published({}, estimate, in_use, now, rules).excess;
}

void RoomPublisher::evict_excess(const Host& host, const Published& published,
                                 const OversubscriptionPolicy& policy) {
    if (policy.configured.excess != "evict" || dependencies_.paused()) return;
    const Amount excess = std::min(published.excess, excess_on(host, policy).value_or(0));
    const Amount left = excess - dependencies_.corrections.leaving(host);
    if (auto correction = excess_correction(host.id, left, published.why))
        dependencies_.corrections.correct(host, *correction, CorrectionSource::estimator);
}

Result<CorrectionNeed> RoomPublisher::needed(const Correction& correction) const {
    const Policy policy = dependencies_.settings.oversubscription;
    const Host* const host = dependencies_.refresher.cache().find(correction.host);
    Resources needed;
    if (!policy || policy->configured.excess != "evict" || host == nullptr)
        return CorrectionNeed{std::move(needed)};
    const auto excess = excess_on(*host, *policy);
    if (!excess) return Error{Errc::unreachable, "what the host uses is not known"};
    const Amount leaving = dependencies_.corrections.leaving(*host, correction.servers);
    needed.set(policy->room_class, std::max<Amount>(*excess - leaving, 0));
    return CorrectionNeed{std::move(needed)};
}

// ---- log messages ----

void RoomPublisher::tell(const Host& host, Known& known, Amount before,
                         const Published& published) const {
    if (published.state.total == before) return;
    known.shown.why = published.why;
    spdlog::info("oversubscription: {}{} vCPUs instead of {} on {}: {}",
                 dry_run() ? "a dry run, would publish " : "", published.state.total, before,
                 printable(host.name, 64), published.why);
}

/// Once for each reason.
void RoomPublisher::refuse(Known& known, std::string why) const {
    if (known.refused == why) return;
    spdlog::warn("oversubscription: the room of {} can't be changed: {}",
                 printable(known.shown.name, 64), why);
    known.refused = std::move(why);
}

void RoomPublisher::see_whether_known(const std::vector<const Host*>& hosts) {
    std::size_t unknown = 0;
    const OversubscribedHost* first = nullptr;
    for (const Host* const host : hosts) {
        const OversubscribedHost& shown = known_.at(host->id).shown;
        if (shown.wanted) continue;
        ++unknown;
        if (first == nullptr) first = &shown;
    }
    if (unknown > 0 && unknown_ == 0)
        spdlog::warn(
            "oversubscription: what {} of {} hosts use is not known, no new room there; {}: {}",
            unknown, hosts.size(), printable(first->name, 64), first->why);
    else if (unknown == 0 && unknown_ > 0)
        spdlog::info("oversubscription: what all {} hosts use is known again", hosts.size());
    unknown_ = unknown;
}

std::vector<OversubscribedHost> RoomPublisher::hosts() const {
    std::vector<OversubscribedHost> all;
    for (const auto& [id, known] : known_) all.push_back(known.shown);
    std::sort(all.begin(), all.end(), [](const OversubscribedHost& a, const OversubscribedHost& b) {
        return std::tie(a.name, a.host) < std::tie(b.name, b.host);
    });
    return all;
}

std::optional<ResourceClass> RoomPublisher::room_class() const {
    const auto& policy = dependencies_.settings.oversubscription;
    return policy ? std::optional{policy->room_class} : std::nullopt;
}

bool RoomPublisher::to_be_sold(const HostId& host) const {
    const auto known = known_.find(host);
    return known != known_.end() && known->second.shown.wanted.value_or(0) > 0;
}

OversubscribedSums RoomPublisher::sums() const {
    OversubscribedSums sums;
    for (const auto& [id, known] : known_) {
        const OversubscribedHost& host = known.shown;
        sums.published += host.published;
        sums.used += host.used;
        sums.wanted += host.wanted.value_or(0);
        sums.excess += host.excess;
        ++sums.hosts;
        if (!host.wanted) ++sums.unknown;
        if (host.left_alone) ++sums.left_alone;
    }
    return sums;
}

void RoomPublisher::on_clock_step(Duration by) {
    for (auto& [id, known] : known_) known.state.shift(by);
    if (left_alone_)
        for (auto& [id, quiet] : *left_alone_) quiet.shift(by);
    rooms_.shift(by);
}

}  // namespace reaper

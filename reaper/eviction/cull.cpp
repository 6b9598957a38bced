#include "reaper/eviction/cull.hpp"

#include <algorithm>
#include <utility>

#include "reaper/cloud/reader/cloud_reader.hpp"
#include "reaper/duties/life_span.hpp"
#include "reaper/model/text.hpp"
#include "reaper/model/time.hpp"
#include "reaper/planner/suitable_hosts.hpp"

namespace reaper {
namespace {

using Kind = FreshVerdict::Kind;

Resources total(const Allocations& allocations) {
    Resources sum;
    for (const auto& [provider, held] : allocations) sum += held;
    return sum;
}

HostAggregates aggregates_of(const std::string& service_host,
                             const std::vector<AggregateRecord>& all) {
    HostAggregates found;
    for (const auto& each : all)
        if (std::find(each.hosts.begin(), each.hosts.end(), service_host) != each.hosts.end())
            found.emplace(each.uuid, HostAggregate{each.name, each.metadata});
    return found;
}

/// What an administrator or an operator did to keep it.
std::optional<std::string> why_protected(const Server& server, LockHolder lock,
                                         const FreshRules& rules) {
    if (server.locked)
        if (auto why = why_lock_counts(lock)) return why;
    return rules.protection.why(server, aggregates_of(server.host, rules.aggregates));
}

FreshVerdict fit(const Server& server, const FreshRules& rules) {
    const auto ends = server.metadata.find(evict_at_key);
    std::string evict_at = ends == server.metadata.end() ? "" : ends->second;
    return {Kind::fit,
            {},
            rules.notice.of(server),
            std::move(evict_at),
            rules.shelve.departure_of(server)};
}

}  // namespace

FreshVerdict judge_fresh(const Victim& victim, const FreshSight& sight, const FreshRules& rules,
                         TimePoint now) {
    const auto& record = sight.record;
    const Allocations& allocations = sight.allocations;
    if (!record || record->server.status == "DELETED")
        return !allocations.empty()
                   ? FreshVerdict{Kind::going, "Nova knows it no more; its room is on the way"}
                   : FreshVerdict{Kind::vanished, "it was gone already"};

    Server server = record->server;
    server.allocations = sight.own;
    tag(server, rules.taggers, rules.tag_data);
    if (!server.revocable()) return {Kind::unfit, "it is no longer revocable"};
    const bool elsewhere = !victim.held_by.empty();
    if (elsewhere && server.status != "VERIFY_RESIZE" && !is_being_deleted(server))
        return {Kind::unfit, "its resize was confirmed or taken back"};
    if (!elsewhere && server.host != victim.host && !server.host.empty())
        return {Kind::unfit,
                "it moved from " + printable(victim.host) + " to " + printable(server.host)};
    const auto kept = why_protected(server, sight.lock, rules);
    const bool soft_deleted = server.status == "SOFT_DELETED";
    if (soft_deleted && server.task_state.empty()) {
        // It can be given back as long as no request forces the deletion.
        if (kept) return {Kind::unfit, *kept};
        return {Kind::soft_deleted, "it is soft-deleted and keeps its room"};
    }
    if (is_being_deleted(server))
        return {Kind::going, "another client deletes it already (" + server.task_state + ")"};
    if (const auto leaving = rules.shelve.why_leaving(server)) return {Kind::going, *leaving};
    if (const auto why_not = why_no_victim(server)) return {Kind::unfit, *why_not};
    if (kept) return {Kind::unfit, *kept};
    if (const auto why = why_too_young(server, rules.min_run_time, now)) return {Kind::unfit, *why};
    if (rules.life_span != nullptr)
        if (const auto why = why_lives_on(server, *rules.life_span, now))
            return {Kind::unfit, *why};
    if (!victim.resources.fits_in(total(allocations)))
        return {Kind::unfit, "it holds " + to_string(total(allocations)) + ", not the planned " +
                                 to_string(victim.resources)};
    return fit(server, rules);
}

namespace {

/// How old, from its beginning, the last look at a victim may be when the deletion goes out: twice
/// as old as what it took, where that is more. One that took longer than `slowest` is never used.
constexpr Duration recheck_valid_for{5000};
constexpr Duration slowest{10'000};
/// How old an earlier look may be when a deletion that comes right after it uses it.
constexpr Duration recent{1000};
/// A look that takes longer, so often in a row: the cloud is too slow to be trusted.
constexpr int looks_at_most = 3;

}  // namespace

Recheck::Recheck(boost::asio::any_io_executor executor, CloudPorts cloud,
                 const LiveSettings& settings, RequestSource source)
    : cloud_(cloud), settings_(settings), source_(source), reading_(executor, 1) {}

Task<Result<RecheckResult>> Recheck::at(const Victim& victim) {
    const Duration began = cloud_.clock.steady();
    std::optional<Result<Consumer>> held;
    std::optional<Result<Seen>> seen;
    std::vector<Task<void>> parts;
    ServerId holder = victim.holder();
    parts.push_back(keep(cloud_.placement.consumer(std::move(holder)), held));
    parts.push_back(keep(see(victim), seen));
    co_await run_all(std::move(parts));
    if (!*held) co_return held->error();
    if (!*seen) co_return seen->error();
    // Placement may have been asked after Nova, and the server have gone in between.
    if ((*held)->holds.empty() && (*seen)->record)
        co_return co_await at(victim, std::move(**held), began);
    co_return judge(victim, std::move(**held), **seen, began);
}

Task<Result<RecheckResult>> Recheck::at(const Victim& victim, Consumer held, Duration began) {
    const auto seen = co_await see(victim);
    if (!seen) co_return seen.error();
    co_return judge(victim, std::move(held), *seen, began);
}

/// What Nova has of it, and whose projects are tagged.
Task<Result<Recheck::Seen>> Recheck::see(const Victim& victim) {
    const std::uint64_t earlier = begun_;
    std::optional<Result<Seen>> seen;
    std::optional<Result<void>> known;
    std::vector<Task<void>> parts;
    parts.push_back(keep(read_server(victim.server), seen));
    parts.push_back(keep(read_tag_data_after(earlier), known));
    co_await run_all(std::move(parts));
    if (!*seen) co_return seen->error();
    if (!*known) co_return known->error();
    if (!victim.held_by.empty()) {
        auto own = co_await cloud_.placement.allocations(victim.server);
        if (!own) co_return own.error();
        (*seen)->own = std::move(*own);
    }
    co_return std::move(**seen);
}

ResultTask<Recheck::Seen> Recheck::read_server(ServerId server) {
    auto record = co_await cloud_.compute.server(std::move(server));
    if (!record) co_return record.error();
    auto lock = co_await read_lock(*record);
    if (!lock) co_return lock.error();
    auto hangs = co_await read_hanging(*record);
    if (!hangs) co_return hangs.error();
    Seen seen;
    seen.record = std::move(*record);
    seen.lock = *lock;
    seen.hangs = std::move(*hangs);
    co_return seen;
}

RecheckResult Recheck::judge(const Victim& victim, Consumer held, const Seen& seen,
                             Duration began) const {
    RecheckResult look;
    look.began = began;
    look.took = cloud_.clock.steady() - began;
    look.policy = asked_by_;
    look.tag_data = number_;
    // At the end of its life span it goes for good.
    static const ShelveRules none;
    const bool ends = source_ == RequestSource::life_span;
    const bool shelves = !ends && !unshelvable_.contains(victim.server);
    const FreshRules rules{asked_by_->taggers,
                           tag_data_,
                           asked_by_->protection,
                           asked_by_->safeguards.protect.min_run_time,
                           aggregates_,
                           asked_by_->notice,
                           shelves ? asked_by_->shelve : none,
                           ends ? &asked_by_->duties.life_span : nullptr};
    const Allocations& own = seen.own ? *seen.own : held.holds;
    const FreshSight sight{seen.record, held.holds, own, seen.lock};
    look.verdict = judge_fresh(victim, sight, rules, cloud_.clock.now());
    look.being_shelved = seen.record && is_being_shelved(seen.record->server);
    look.has_task = seen.record && !seen.record->server.task_state.empty();
    look.shelved_next = shelves && look.has_task &&
                        seen.record->server.task_state == "powering-off" &&
                        asked_by_->shelve.apply_to(seen.record->server);
    look.shelved = seen.record && !look.has_task && seen.record->server.status == "SHELVED";
    if (seen.hangs && look.verdict.kind == Kind::fit) look.verdict = {Kind::unfit, *seen.hangs};
    // Its room is kept for the search before it goes, and it takes too long.
    if (source_ == RequestSource::gateway && look.verdict.kind == Kind::fit &&
        look.verdict.departure != Departure::deleted)
        look.verdict = {Kind::unfit, "it is to be shelved"};
    look.held = std::move(held);
    return look;
}

/// Nova confirms a resize before it deletes the server, and needs its source for that.
ResultTask<std::optional<std::string>> Recheck::read_hanging(
    const std::optional<ServerRecord>& record) {
    if (!record) co_return std::optional<std::string>{};
    Server server = record->server;
    if (server.status == "VERIFY_RESIZE" && !is_being_deleted(server)) {
        const auto resizes = co_await cloud_.compute.unconfirmed_resizes();
        if (!resizes) co_return resizes.error();
        for (const auto& resize : *resizes) {
            if (resize.server != server.id) continue;
            const auto source = co_await cloud_.compute.compute_service(resize.source_host);
            if (!source) co_return source.error();
            const bool up = *source && (*source)->up;
            if (!up) co_return std::optional{why_unconfirmable(resize.source_host)};
        }
    }
    co_return co_await ask_why_stop_hangs(cloud_, std::move(server));
}

/// Where owners' locks count, it makes no difference which user set one.
ResultTask<LockHolder> Recheck::read_lock(const std::optional<ServerRecord>& record) {
    if (!record || settings_.policy->protection.by_owners()) co_return LockHolder::none;
    Server server = record->server;
    co_return co_await ask_lock_holder(cloud_, std::move(server));
}

bool Recheck::is_fresh(const RecheckResult& look) const {
    const Duration age = cloud_.clock.steady() - look.began;
    return look.took <= slowest && age <= std::max(recheck_valid_for, 2 * look.took) &&
           look.policy == settings_.policy && look.tag_data == number_;
}

/// One that is fresh when it is there.
Task<Result<RecheckResult>> Recheck::fresh_at(const Victim& victim) {
    for (int looks = 0; looks < looks_at_most; ++looks) {
        auto look = co_await at(victim);
        if (!look || is_fresh(*look)) co_return look;
    }
    co_return Error{Errc::timeout, "the cloud takes more than " + format_duration(slowest) +
                                       " to tell about one server: too slow to delete by"};
}

Task<Result<RecheckResult>> Recheck::fresh_at(const Victim& victim,
                                              std::optional<RecheckResult> earlier) {
    if (earlier && is_fresh(*earlier) && cloud_.clock.steady() - earlier->began <= recent)
        co_return std::move(*earlier);
    co_return co_await fresh_at(victim);
}

/// Whose projects are tagged, and the hosts' aggregates if they protect, by a reading that was
/// begun after this one: looks side by side share it, and none rests on an answer that is older
/// than its own first question.
Task<Result<void>> Recheck::read_tag_data_after(std::uint64_t reading) {
    const auto turn = co_await reading_.acquire();
    if (read_ > reading && asked_by_ == settings_.policy) co_return Result<void>{};
    const std::uint64_t number = ++begun_;
    const auto policy = settings_.policy;
    TaggerInputs tagger_inputs = policy->tagger_inputs();
    auto tag_data = co_await read_tag_data(cloud_, std::move(tagger_inputs));
    if (!tag_data) co_return tag_data.error();
    if (policy->protection.by_aggregates()) {
        auto aggregates = co_await cloud_.compute.aggregates();
        if (!aggregates) co_return aggregates.error();
        aggregates_ = std::move(*aggregates);
    }
    read_ = number;
    if (asked_by_ != policy || !(*tag_data == tag_data_)) ++number_;
    asked_by_ = policy;
    tag_data_ = std::move(*tag_data);
    co_return Result<void>{};
}

std::string label(const Victim& victim) {
    return victim.server.str() + " (" + printable(victim.name, 64) + ") on " +
           printable(victim.host, 64);
}

LogFields about(const Cull& cull, const Victim& victim) {
    return {.request = cull.request.id.str(),
            .server = victim.server.str(),
            .server_name = victim.name,
            .host = victim.host,
            .project = victim.project.str(),
            .project_name = victim.project_name,
            .flavor = victim.flavor};
}

Cull::Cull(Request for_whom, const Plan& plan, const std::map<ServerId, Progress>& known,
           Recheck recheck, AsyncSemaphore one_asks)
    : request(std::move(for_whom)),
      victims(plan.victims()),
      look(std::move(recheck)),
      asking(std::move(one_asks)) {
    for (const auto& host : plan.hosts) {
        for (const auto& victim : host.victims) hosts[victim.server] = host.host;
        for (const auto& other : host.pending_releases) {
            hosts[other.server] = host.host;
            if (!other.unfinished) pending_releases.push_back(other.server);
        }
    }
    // One that holds room on two hosts goes once: what it left behind comes free before the rest.
    std::set<ServerId> whole;
    for (const auto& victim : victims)
        if (victim.held_by.empty()) whole.insert(victim.server);
    std::erase_if(victims, [&](const Victim& victim) {
        return !victim.held_by.empty() && whole.contains(victim.server);
    });
    for (const auto& victim : victims) {
        const auto found = known.find(victim.server);
        if (found == known.end()) {
            state(victim) = State::planned;
        } else if (found->second == Progress::sent || found->second == Progress::accepted) {
            state(victim) = State::sent;
            ours.insert(victim.server);
            (found->second == Progress::sent ? unheard : accepted).insert(victim.server);
        } else {
            state(victim) = State::gone;
            if (found->second == Progress::gone) ours.insert(victim.server);
        }
    }
    for (const auto& host : plan.hosts)
        for (const auto& other : host.pending_releases)
            if (other.unfinished) add_unfinished(other);
}

void Cull::add_unfinished(const PendingRelease& other) {
    Victim victim;
    victim.server = other.server;
    victim.name = other.name;
    victim.project = other.project;
    victim.host = other.host;
    victim.reason = other.reason;
    state(victim) = State::unfinished;
    unfinished.insert(victim.server);
    victims.push_back(std::move(victim));
}

std::size_t Cull::count(State wanted) const {
    return static_cast<std::size_t>(std::count_if(
        states.begin(), states.end(), [&](const auto& entry) { return entry.second == wanted; }));
}

std::vector<HostId> Cull::hosts_of_untouched() {
    std::set<HostId> found;
    for (const auto& victim : victims)
        if (state(victim) == State::planned || state(victim) == State::unfinished)
            found.insert(hosts[victim.server]);
    return {found.begin(), found.end()};
}

bool Cull::begun() const {
    return std::any_of(sent.begin(), sent.end(),
                       [&](const ServerId& id) { return !not_out.contains(id); });
}

void Cull::saw(const Victim& victim, const RecheckResult& seen) {
    shelved.erase(victim.server);
    if (seen.shelved && ours.contains(victim.server)) shelved.insert(victim.server);
}

void Cull::fail(Error error) {
    stopped = true;
    if (!failure) failure = std::move(error);
}

bool Cull::block(std::optional<std::string> why_not) {
    if (!why_not) return false;
    stopped = true;
    if (!blocked) blocked = std::move(why_not);
    return true;
}

Execution Cull::conclude() const {
    Execution execution;
    execution.skipped = skipped;
    const auto gone = count(State::gone);
    // What another reaper began and what others delete is given up alike.
    const auto left = static_cast<std::size_t>(
        std::count_if(unfinished.begin(), unfinished.end(),
                      [&](const ServerId& id) { return states.at(id) == State::stuck; }));
    const auto stuck = count(State::stuck) - left;
    const auto late = overdue + left;
    execution.deleted = static_cast<int>(ours.size());
    const std::string of_all =
        std::to_string(gone) + " of " + std::to_string(victims.size()) + " victims are gone";
    // Also when all of it came free.
    if (no_longer_needed && !blocked) {
        execution.end = Execution::End::no_longer_needed;
        execution.reason = *no_longer_needed;
    } else if (gone == victims.size() && overdue == 0 && !taken) {
        execution.end = Execution::End::freed;
        execution.reason = of_all;
    } else if (blocked) {
        execution.end = Execution::End::blocked;
        execution.reason = *blocked;
    } else if (taken) {
        execution.end = Execution::End::replan;
        execution.reason = *taken;
    } else if (stuck > 0) {
        execution.end = Execution::End::incomplete;
        execution.reason =
            of_all + "; " + std::to_string(stuck) + " still hold room after the deadline";
    } else if (!skipped.empty()) {
        execution.end = Execution::End::replan;
        execution.reason = skipped.begin()->second;
    } else if (late > 0) {
        execution.end = Execution::End::replan;
        execution.reason = std::to_string(late) + " servers that others delete do not go";
    } else if (failure) {
        execution.end = Execution::End::failed;
        execution.reason = failure->what;
    } else {
        execution.end = Execution::End::replan;
        execution.reason = of_all + "; of the others Nova never heard";
    }
    return execution;
}

// How a request keeps others off its room.

Task<bool> CullRoom::hold(std::vector<HostId> hosts) {
    auto classes = settings_.policy->held_classes();
    // A requester of one slot would be kept off, too.
    std::erase_if(classes,
                  [&](const ResourceClass& held) { return request_.resources.get(held) > 0; });
    // Room in escrow is held against all others, and could not be where the class is reserved.
    // Of a correction nothing is to be kept.
    if (request_.correction || classes.empty() || keeps_room()) co_return false;
    std::vector<InventoryReserver::Place> places;
    for (const auto& id : hosts) {
        const Host* const host = refresher_.cache().find(id);
        if (host == nullptr) continue;
        for (const auto& provider : host->providers)
            for (const auto& held : classes)
                if (provider.inventories.contains(held))
                    places.push_back({id, host->name, provider.id, held});
    }
    if (places.empty()) co_return false;
    RequestId request = request_.id;
    co_await reserver_.take(std::move(request), std::move(places));
    co_return true;
}

bool CullRoom::came_free_on(const std::set<HostId>& hosts) const {
    const auto& changed = escrow_.changed();
    return std::any_of(hosts.begin(), hosts.end(),
                       [&](const HostId& host) { return changed.contains(host); });
}

bool CullRoom::keeps_room() const {
    return request_.source == RequestSource::gateway && settings_.gateway.escrow &&
           !settings_.dry_run && escrow_.allowed();
}

/// What of the plan's slots on a host is free already, if its root provider has all of it; where
/// that can't be determined, nothing.
Resources CullRoom::free_part(const HostPlan& plan) const {
    const Host* const host = refresher_.cache().find(plan.host);
    if (host == nullptr || host->providers.empty() || !request_.groups.empty()) return {};
    // How much of what is free is another's can't be determined while some of it is on its way.
    if (others_free_room_on(plan.host) &&
        !rooms_.ledger().promised_to_others(plan.host, request_.id).empty())
        return {};
    const Resources& slot = plan.slot.empty() ? request_.resources : plan.slot;
    Resources wanted = slot * plan.slots;
    for (const Victim& victim : plan.victims) wanted -= victim.resources;
    // What others delete was waited for, and is free by now; what they left unfinished is not.
    const bool unfinished =
        std::any_of(plan.pending_releases.begin(), plan.pending_releases.end(),
                    [](const PendingRelease& other) { return other.unfinished; });
    if (unfinished) return {};
    wanted -= escrow_.of_victims_on(plan.host, request_.id);
    Resources part;
    for (const auto& [name, amount] : wanted) {
        const auto inventory = host->root().inventories.find(name);
        if (inventory == host->root().inventories.end()) return {};
        if (amount <= 0) continue;
        if (!inventory->second.allows(amount)) return {};
        part.set(name, amount);
    }
    return part;
}

/// What other requests leave of their victims' room may be part of the plan's, and is on its way.
bool CullRoom::others_free_room_on(const HostId& host) const {
    const Ledger& ledger = rooms_.ledger();
    const auto evicting = ledger.evicting_on(host);
    return !escrow_.promised_for_others_on(host, request_.id).empty() ||
           std::any_of(evicting.begin(), evicting.end(), [&](const ServerId& server) {
               const Ledger::Eviction* const eviction = ledger.eviction(server);
               return eviction->request != request_.id && !eviction->ended;
           });
}

Task<std::optional<std::string>> CullRoom::take_free(std::vector<HostPlan> hosts) {
    if (!keeps_room()) co_return std::nullopt;
    for (const HostPlan& plan : hosts) {
        escrow_.take_over(plan.host, request_.id);
        Resources amounts = free_part(plan);
        RequestId request = request_.id;
        HostId host = plan.host;
        const bool taken =
            co_await escrow_.take_free(std::move(request), std::move(host), std::move(amounts));
        // Then it can't be determined whether all of it is free by now.
        if (!taken && !others_free_room_on(plan.host))
            co_return "room on " + printable(plan.host_name) + " was taken meanwhile";
    }
    co_return std::nullopt;
}

/// A requester in the gateway receives it.
Task<bool> CullRoom::put_in_escrow(ServerId victim, HostId host, Consumer held) {
    if (!keeps_room()) co_return true;
    EscrowedRoom room{request_.id, std::move(host), {}, false, needs_room_first(request_)};
    co_return co_await escrow_.keep(std::move(room), std::move(victim), std::move(held));
}

// What is recorded of a victim.

Task<bool> CullRecorder::record(Cull& cull, const Victim& victim, Step step, std::string detail) {
    // `skipped` takes back what was sent. One that is off may come back.
    if (step == Step::skipped && cull.shelved.contains(victim.server)) step = Step::left_shelved;
    StepEntry entry{victim.server, step, std::move(detail), services_.cloud.clock.now()};
    if (step == Step::delete_accepted || step == Step::gone || step == Step::vanished)
        services_.safeguards.safeguards().notices().end(victim.server);
    auto written = co_await services_.journal.add_step(cull.request.id, std::move(entry));
    if (written) co_return true;
    if (written.error().code == Errc::rejected) {
        // Others used it up: with what they did, planning again refuses as for any limit.
        auto counted = co_await services_.safeguards.read_victims();
        if (counted)
            cull.block(written.error().what);
        else
            cull.fail(counted.error());
        co_return false;
    }
    log_about(cull, victim, spdlog::level::err,
              "{0}: step '{2}' of {1} could not be journalled: {3}", to_string(step),
              written.error().what);
    cull.fail(written.error());
    co_return false;
}

Task<void> CullRecorder::skip(Cull& cull, const Victim& victim, std::string reason) {
    log_about(cull, victim, spdlog::level::info, "{}: skipping {}: {}", reason);
    if (cull.not_out.contains(victim.server)) not_done(cull, victim);
    cull.stopped = true;
    cull.state(victim) = Cull::State::skipped;
    cull.skipped[victim.server] = reason;
    services_.rooms.stays(victim.server);
    co_await record(cull, victim, Step::skipped, std::move(reason));
}

Task<void> CullRecorder::refused(Cull& cull, const Victim& victim, std::string reason) {
    not_done(cull, victim);
    services_.safeguards.on_deletion(cull.request.id, victim.server, false);
    co_await skip(cull, victim, std::move(reason));
}

Task<void> CullRecorder::leave(Cull& cull, const Victim& victim, std::string reason) {
    if (cull.unheard.contains(victim.server)) not_done(cull, victim);
    if (cull.unfinished.contains(victim.server))
        services_.rooms.given_up(cull.hosts[victim.server], victim.server,
                                 services_.cloud.clock.now());
    co_await skip(cull, victim, std::move(reason));
}

Task<void> CullRecorder::abandon(Cull& cull, const Victim& victim) {
    not_done(cull, victim);
    if (cull.erred.erase(victim.server) > 0)
        services_.safeguards.on_deletion(cull.request.id, victim.server, false);
    cull.state(victim) = Cull::State::planned;
    const bool off = cull.shelved.contains(victim.server);
    std::string why = "its plan was stopped before Nova heard of it";
    if (off) why = "its plan was stopped before it left its host";
    co_await record(cull, victim, Step::skipped, std::move(why));
}

void CullRecorder::not_done(Cull& cull, const Victim& victim) {
    cull.sent.erase(victim.server);
    cull.not_out.erase(victim.server);
    cull.ours.erase(victim.server);
    if (cull.shelved.contains(victim.server))
        services_.safeguards.on_left_shelved(victim);
    else
        services_.safeguards.on_not_done(cull.request.id, victim);
}

Task<void> CullRecorder::gone(Cull& cull, const Victim& victim) {
    if (cull.not_out.contains(victim.server)) not_done(cull, victim);
    cull.state(victim) = Cull::State::gone;
    if (cull.ours.contains(victim.server))
        services_.safeguards.on_deletion(cull.request.id, victim.server, true);
    const bool by_others = cull.leaving.contains(victim.server);
    const Step how = by_others ? Step::vanished : Step::gone;
    co_await record(cull, victim, how, by_others ? "another client deleted it" : "");
}

Task<void> CullRecorder::stuck(Cull& cull, const Victim& victim, const Result<Consumer>& held) {
    if (held && cull.ours.contains(victim.server))
        services_.safeguards.on_deletion(cull.request.id, victim.server, false);
    cull.state(victim) = Cull::State::stuck;
    services_.rooms.goes_late(victim.server);
    // What was only not forced can still be, by the next plan.
    if (!cull.withheld.contains(victim.server))
        services_.rooms.given_up(cull.hosts[victim.server], victim.server,
                                 services_.cloud.clock.now());
    const Step step = held ? Step::failed : Step::unseen;
    const std::string last = held ? "it still holds room in Placement" : held.error().what;
    co_await record(cull, victim, step, "the deadline passed: " + last);
}

}  // namespace reaper

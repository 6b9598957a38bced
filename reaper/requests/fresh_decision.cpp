#include "reaper/requests/fresh_decision.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "reaper/decision/duties.hpp"
#include "reaper/decision/requester_class.hpp"
#include "reaper/decision/room_oracle.hpp"
#include "reaper/model/named_records.hpp"
#include "reaper/planner/cells.hpp"
#include "reaper/planner/host_label.hpp"
#include "reaper/planner/indexed_cloud.hpp"
#include "reaper/planner/suitable_hosts.hpp"
#include "reaper/runtime/async.hpp"
#include "reaper/runtime/machine.hpp"

namespace reaper {
namespace {

/// Readings of different hosts for one decision, one after the other, before it is given up.
constexpr int max_read_rounds = 24;
/// So many rounds follow what changes meanwhile. Owners can make many events.
constexpr int rounds_for_events = 6;
/// Hosts that are read again before a request is refused for want of room.
constexpr std::size_t second_looks = 16;
/// Hosts that offer revocable room, read before a deletion for a request that prefers it.
constexpr std::size_t max_offering = 64;

/// Do aggregates decide where the request may be placed, or which servers may go?
bool by_aggregates(const Request& request, const CompiledPolicy& policy) {
    return request.availability_zone || !request.placement.aggregates.empty() ||
           !policy.scheduler.nothing() || policy.safeguards.limits.victims_per_aggregate > 0 ||
           policy.protection.by_aggregates();
}

/// What decides about the place of this request, and may have changed, is read with each host.
HostDepth depth_for(const Request& request, const SchedulerRules& rules) {
    const bool bound = request.availability_zone || !request.placement.aggregates.empty() ||
                       rules.own_aggregates != SchedulerRules::OwnAggregates::off;
    // Hosts of one kind are declared by traits.
    const bool typed = !request.phases_because.empty();
    return bound || typed || asks_for_traits(request) ? HostDepth::placement : HostDepth::state;
}

/// How many servers may be deleted in place of the decision's.
std::size_t victims_of(const Decision& decision) {
    const auto* const plan = std::get_if<Plan>(&decision);
    return plan == nullptr ? std::numeric_limits<std::size_t>::max() : plan->victims().size();
}

/// By a consumer that Nova has not reported there, and of which the promise does not know that it
/// is for it.
bool is_held_by_unknown(const RoomPromise& promise, const Host& host) {
    std::map<ServerId, Resources> held;
    for (const Provider& provider : host.providers)
        for (const auto& [consumer, amounts] : provider.other_consumers)
            if (!promise.is_for(consumer)) held[consumer] += amounts;
    return std::ranges::any_of(held, [&](const auto& each) { return each.second == promise.slot; });
}

/// Hosts in cooldown are of use where nothing else is: so is it if the decision needs one.
bool needs_cooling_host(const Decision& decision, const std::map<HostId, std::string>& cooling) {
    const auto* const plan = std::get_if<Plan>(&decision);
    return plan == nullptr || std::ranges::any_of(plan->hosts, [&](const HostPlan& each) {
               return cooling.contains(each.host);
           });
}

}  // namespace

/// Hosts that the decision rests on and that were not read for it yet. Of a refusal: those that
/// came nearest, once.
std::vector<HostId> FreshDecision::unread_hosts(const Decision& decision, const RequestId& request,
                                                const std::set<HostId>& fresh,
                                                bool second_look) const {
    std::vector<HostId> ids;
    const auto look = [&](const HostId& id) {
        if (!fresh.contains(id) && std::ranges::find(ids, id) == ids.end()) ids.push_back(id);
    };
    if (const auto* plan = std::get_if<Plan>(&decision)) {
        for (const auto& host : plan->hosts) look(host.host);
        // What it freed before is used before others go, also where the cache does not show it.
        for (const auto* const promise : rooms_.ledger().promises_of(request)) look(promise->host);
    }
    if (const auto* nothing = std::get_if<NothingToDo>(&decision))
        for (const auto& host : nothing->hosts) look(host.host);
    if (const auto* not_enough = std::get_if<NotEnough>(&decision); not_enough && second_look)
        for (const auto& rejection : not_enough->rejected) {
            const bool near = rejection.code == RejectionCode::not_enough_revocable ||
                              rejection.code == RejectionCode::not_in_placement;
            if (near && ids.size() < second_looks) look(rejection.host);
        }
    return ids;
}

/// Hosts that offer revocable room, not read for the decision yet: no servers deleted for a request
/// that would rather have that.
void FreshDecision::add_offering(const CompiledPolicy& policy, const std::set<HostId>& fresh,
                                 std::vector<HostId>& ids) const {
    std::size_t added = 0;
    for (const Host* const host : refresher_.cache().hosts()) {
        if (added == second_looks || fresh.size() >= max_offering) return;
        const bool known =
            fresh.contains(host->id) || std::ranges::find(ids, host->id) != ids.end();
        if (known || !offers_revocable(*host, policy.revocable_classes)) continue;
        ids.push_back(host->id);
        ++added;
    }
}

/// On some hosts alone.
ReservationController::Search FreshDecision::search_under(
    std::shared_ptr<const CompiledPolicy> policy, bool in_cooldown_too,
    std::map<ServerId, std::string> skipped, Giving giving) {
    const bool looks = giving == Giving::look || reservations_->is_read_only();
    ReservationController::Search search;
    search.suitable = [this, policy, in_cooldown_too](const Request& asked) {
        std::map<HostId, std::string> cooling;
        if (!in_cooldown_too) cooling = safeguards_.passed_over(clock_.now());
        const auto hosts =
            std::make_shared<SuitableHosts>(asked, refresher_.cache().index(), rooms_.ledger(),
                                            &policy->scheduler, std::move(cooling));
        return [hosts](const HostId& host) { return hosts->contains(host); };
    };
    search.shares = [this, policy] {
        return policy->strategy->shares(IndexedCloud{refresher_.cache().index(), rooms_.ledger()});
    };
    search.decide = [this, policy = std::move(policy), in_cooldown_too,
                     skipped = std::move(skipped),
                     looks](const Request& asked, const std::vector<Host>& hosts) {
        CloudView view;
        view.snapshot.taken_at = clock_.now();
        view.snapshot.hosts = hosts;
        const auto cooling = safeguards_.passed_over(clock_.now());
        if (!in_cooldown_too)
            std::erase_if(view.snapshot.hosts,
                          [&](const Host& host) { return cooling.contains(host.id); });
        view.tag_data = refresher_.cache().tag_data();
        // What it finds is decided again, under all limits; or else it is the answer.
        if (looks)
            return reaper::decide(*policy, asked, view, rooms_.ledger(), safeguards_, skipped);
        return reaper::decide(*policy, asked, view, rooms_.ledger());
    };
    return search;
}

/// In place of the decision.
Task<ReservationController::Release> FreshDecision::release_reserved(
    std::shared_ptr<const CompiledPolicy> policy, Request request, const Decision& decision,
    std::map<ServerId, std::string> skipped, Giving giving) {
    const std::size_t most_victims = victims_of(decision);
    const bool cooling_too = needs_cooling_host(decision, safeguards_.passed_over(clock_.now()));
    auto search = search_under(std::move(policy), cooling_too, std::move(skipped), giving);
    co_return co_await reservations_->release_for(std::move(request), std::move(search),
                                                  most_victims, giving);
}

Task<ReservationController::Release> FreshDecision::borrow(
    std::shared_ptr<const CompiledPolicy> policy, Request request, Giving giving) {
    std::map<ServerId, std::string> no_servers;
    auto search = search_under(std::move(policy), true, std::move(no_servers), giving);
    co_return co_await reservations_->lend_to(std::move(request), std::move(search), giving);
}

/// Of plans with victims, one whose victims hold room that is lent by the request's own role.
Decision FreshDecision::own_tenants_first(const CompiledPolicy& policy, const Request& request,
                                          Decision decision,
                                          const std::map<ServerId, std::string>& skipped) {
    const auto* const plan = std::get_if<Plan>(&decision);
    if (plan == nullptr || plan->victims().empty() || request.role.empty()) return decision;
    Request there = request;
    auto hosts = reservations_->hosts_lent_by(request.role);
    if (there.placement.only_hosts.empty())
        there.placement.only_hosts = std::move(hosts);
    else
        std::erase_if(there.placement.only_hosts,
                      [&](const std::string& host) { return !hosts.contains(host); });
    if (there.placement.only_hosts.empty()) return decision;
    const CloudCache& cache = refresher_.cache();
    Decision own = reaper::decide(policy, there, cache.index(), cache.tag_data(), rooms_.ledger(),
                                  clock_.now(), safeguards_, skipped);
    const auto* const theirs = std::get_if<Plan>(&own);
    if (theirs == nullptr || theirs->slots_freed < plan->slots_requested) return decision;
    return own;
}

/// Under all limits, by the cache and the ledger as they are. A server that was skipped for a
/// protection that the cache knows by now is left out for that, so that a refusal can mention it.
Decision FreshDecision::decide_now(const CompiledPolicy& policy, const Request& request,
                                   std::map<ServerId, std::string> skipped) {
    const CloudCache& cache = refresher_.cache();
    const Protection& protection = safeguards_.protection();
    std::erase_if(skipped, [&](const auto& each) {
        const Server* const server = cache.find(each.first);
        return server != nullptr && protection.protects(*server);
    });
    Decision decision = reaper::decide(policy, request, cache.index(), cache.tag_data(),
                                       rooms_.ledger(), clock_.now(), safeguards_, skipped);
    if (reservations_ == nullptr) return decision;
    return own_tenants_first(policy, request, std::move(decision), skipped);
}

bool FreshDecision::would_borrow(const CompiledPolicy& policy, const Request& request) const {
    const CloudCache& cache = refresher_.cache();
    return reservations_ != nullptr && reservations_->lends() &&
           why_requester_revocable(policy, request, cache.index(), cache.tag_data());
}

/// An administrator's lock counts, its owner's does not, and a stop may hang: only Nova says which
/// it is. Asked where that matters for a victim, about all such servers of its host. Those that
/// stay are skipped.
/// True if something was asked: the decision is older than the answer.
ResultTask<bool> FreshDecision::skip_locked(const Decision& decision, std::set<ServerId>& asked,
                                            std::map<ServerId, std::string>& skipped) {
    std::vector<Server> locked;
    for (const HostPlan& plan : host_plans(decision)) {
        const Host* const host = refresher_.cache().find(plan.host);
        if (host == nullptr) continue;
        const bool matters = std::ranges::any_of(plan.victims, [&](const Victim& victim) {
            const Server* const server = refresher_.cache().find(victim.server);
            return server != nullptr && needs_actions(*server) && !asked.contains(victim.server);
        });
        if (!matters) continue;
        for (const auto* const servers : {&host->servers, &host->left_behind})
            for (const Server& server : *servers)
                if (server.revocable() && needs_actions(server) && !skipped.contains(server.id) &&
                    asked.insert(server.id).second)
                    locked.push_back(server);
    }
    if (locked.empty()) co_return false;
    auto stay = co_await refresher_.ask_lock_holders(std::move(locked));
    if (!stay) co_return stay.error();
    skipped.merge(*stay);
    co_return true;
}

void FreshDecision::decided(const Request& request, const Decision& decision) {
    const auto* const plan = std::get_if<Plan>(&decision);
    const bool by_role = is_awaited(request.source);
    if (reservations_ != nullptr && plan != nullptr && by_role)
        reservations_->on_plan(request.role, *plan);
    const auto* const nothing = std::get_if<NothingToDo>(&decision);
    if (reservations_ != nullptr && nothing != nullptr && by_role)
        reservations_->keep_free_for(request, nothing->hosts);
}

/// Before the reservations are known, no request has a role. A loan's request has its own.
Task<void> FreshDecision::learn_role(Request& request) {
    if (reservations_ == nullptr) co_return;
    co_await reservations_->until_known();
    if (request.source == RequestSource::reservation) co_return;
    ProjectId project = request.project;
    request.role = co_await reservations_->role_of(std::move(project));
}

ResultTask<Decision> FreshDecision::decide(std::shared_ptr<const CompiledPolicy> policy,
                                           Request& request,
                                           std::map<ServerId, std::string> skipped,
                                           std::optional<std::uint64_t> builds_known) {
    auto decision =
        co_await decide_on_fresh(std::move(policy), request, std::move(skipped), builds_known);
    const ProjectNames& names = refresher_.cache().project_names();
    add_names(names, request);
    if (decision) add_names(names, *decision);
    co_return decision;
}

Task<std::optional<Refused>> FreshDecision::refuse_project(
    std::shared_ptr<const CompiledPolicy> policy, ProjectId project) {
    constexpr Duration tags_hold{2'000};
    std::optional<Refused> none;
    const CloudCache& cache = refresher_.cache();
    if (!refresher_.built() || !is_revocable(project, policy->taggers, cache.tag_data()))
        co_return none;
    if (reservations_ != nullptr) {
        co_await reservations_->until_known();
        const auto unknown = reservations_->why_not_known();
        const bool off = unknown && unknown->code == Errc::not_found;
        if (!off && (unknown || reservations_->lends())) co_return none;
    }
    auto by = policy;
    const auto tags = co_await refresher_.recent_tag_data(std::move(by), tags_hold);
    if (!tags || !is_revocable(project, policy->taggers, **tags)) co_return none;
    Request any;
    any.project = std::move(project);
    add_names(cache.project_names(), any);
    const auto why = why_revocable(any, policy->taggers, **tags);
    if (!why) co_return none;
    co_return refused_as_revocable(*why);
}

/// True if other deletions are unfinished than were known.
ResultTask<bool> FreshDecision::read_together(Together what, HostDepth depth) {
    std::optional<Result<void>> hosts;
    std::optional<Result<bool>> changed;
    std::vector<Task<void>> parts;
    parts.push_back(keep(read_tags_then_unfinished(what.tags_by, what.unfinished), changed));
    if (!what.hosts.empty())
        parts.push_back(keep(refresher_.read_hosts(std::move(what.hosts), depth), hosts));
    co_await run_all(std::move(parts));
    if (hosts && !*hosts) co_return hosts->error();
    co_return std::move(*changed);
}

/// The tags show which of the unfinished ones count.
ResultTask<bool> FreshDecision::read_tags_then_unfinished(
    std::shared_ptr<const CompiledPolicy> tags_by, bool unfinished) {
    if (tags_by) {
        auto tags = co_await refresher_.refresh_tag_data(std::move(tags_by));
        if (!tags) co_return tags.error();
    }
    if (!unfinished) co_return false;
    co_return co_await refresher_.refresh_unfinished();
}

// A decision on fresh readings: four steps, from the first again until the last one confirms it.

/// What is known for one decision, from round to round.
struct FreshDecision::State {
    std::shared_ptr<const CompiledPolicy> policy;
    Request request;  ///< with what may be lent to it
    std::map<ServerId, std::string> skipped;
    std::map<ServerId, std::string> staying{};  ///< those, and what this round can't delete
    std::uint64_t builds_before = 0;
    bool lends = false;
    bool bound = false;  ///< see `by_aggregates`
    HostDepth depth = HostDepth::state;
    int round = 0;
    std::uint64_t build = 0;  ///< the bulk reading that what is known belongs to
    std::set<HostId> fresh;
    std::set<HostId> listed;  ///< of these, those whose servers were read too
    bool tags_known = false;
    std::uint64_t aggregates_known = 0;  ///< by which bulk reading
    bool unfinished_known = false;       ///< deletions
    bool resizes_known = false;
    bool reserved_known = false;  ///< what is idle of it was looked for
    std::set<ServerId> lock_asked;
    bool second_look = true;  ///< of a refusal: at the hosts that came nearest, and at services
    bool third_look = true;   ///< at the whole cloud
    Decision decision;        ///< of this round
    TimePoint now{};          ///< when it was made
    std::uint64_t changes{};  ///< of the cache, until then

    bool takes_room() const { return std::holds_alternative<Plan>(decision); }
    bool refused() const { return std::holds_alternative<NotEnough>(decision); }
    bool lacks_room() const { return takes_room() || refused(); }
};

ResultTask<Decision> FreshDecision::decide_on_fresh(std::shared_ptr<const CompiledPolicy> policy,
                                                    Request& asked,
                                                    std::map<ServerId, std::string> skipped,
                                                    std::optional<std::uint64_t> builds_known) {
    if (asked.correction)
        co_return co_await decide_correction(std::move(policy), asked, std::move(skipped));
    State state;
    state.policy = std::move(policy);
    state.skipped = std::move(skipped);
    state.builds_before = builds_known.value_or(refresher_.builds_begun());
    const auto prepared = co_await prepare(state, asked);
    if (!prepared) co_return prepared.error();
    for (; state.round < max_read_rounds; ++state.round) {
        auto next = co_await decide_by_cache(state);
        if (next && *next == Next::step) next = co_await read_what_it_rests_on(state);
        if (next && *next == Next::step) next = co_await use_reserved_room(state);
        if (next && *next == Next::step) next = co_await confirm_or_read(state);
        if (!next) co_return next.error();
        if (*next == Next::answer) co_return std::move(state.decision);
    }
    co_return Error{Errc::conflict, "the cloud changes faster than it can be read: after " +
                                        std::to_string(max_read_rounds) +
                                        " readings the decision still rests on other hosts"};
}

ResultTask<void> FreshDecision::prepare(State& state, Request& asked) {
    auto usable = co_await refresher_.ensure_usable(state.builds_before);
    if (!usable) co_return usable.error();
    add_names(refresher_.cache().project_names(), asked);
    co_await learn_role(asked);
    state.request = asked;
    state.lends = reservations_ != nullptr && reservations_->lends();
    if (state.lends) state.request.lent_by = rooms_.ledger().reserved().lent_to(asked.id);
    // Whose projects are tagged is read beside the hosts, except where it says where to begin.
    state.tags_known = !asked.from_host.empty();
    if (state.tags_known) {
        auto tag_data = co_await refresher_.refresh_tag_data(state.policy);
        if (!tag_data) co_return tag_data.error();
    }
    if (moves_from_revocable_room(*state.policy, state.request)) {
        const Host* const from =
            host_by_service(state.request.from_host, refresher_.cache().index());
        std::vector<HostId> left;
        if (from != nullptr) left.push_back(from->id);
        auto read = co_await refresher_.read_hosts(std::move(left), HostDepth::state);
        if (!read) co_return read.error();
    }
    // What a plan rests on beside the room, its victims, is checked before any server is deleted.
    // If some of them fail that check, the events reported too little.
    state.depth = depth_for(state.request, state.policy->scheduler);
    if (state.depth == HostDepth::state && state.skipped.empty()) state.depth = HostDepth::room;
    state.bound = by_aggregates(state.request, *state.policy);
    state.skipped.merge(refresher_.kept_by_locks());
    state.build = refresher_.build();
    state.unfinished_known = state.build > state.builds_before;
    if (state.unfinished_known) state.aggregates_known = state.build;
    co_return Result<void>{};
}

ResultTask<FreshDecision::Next> FreshDecision::decide_by_cache(State& state) {
    if (state.build != refresher_.build()) {
        // A bulk reading in the background took the place of what was read for this decision.
        state.fresh.clear();
        state.listed.clear();
        state.build = refresher_.build();
        state.tags_known = false;
    }
    const CloudCache& cache = refresher_.cache();
    if (state.bound && (state.aggregates_known != refresher_.build() || cache.aggregates_stale())) {
        auto aggregates = co_await refresher_.refresh_aggregates();
        if (!aggregates) co_return aggregates.error();
        state.aggregates_known = refresher_.build();
        if (state.build != refresher_.build()) co_return Next::round;
    }
    refresher_.link_resizes();
    state.staying = state.skipped;
    state.staying.merge(cache.unconfirmable());
    state.now = clock_.now();
    rooms_.observe([&cache](const HostId& id) { return cache.find(id); }, cache.index().changes(),
                   state.now);
    state.request.borrows = state.lends && would_borrow(*state.policy, state.request);
    rooms_.admits(state.request);
    if (reservations_ != nullptr) reservations_->update_ledger();
    safeguards_.see_several_cells(refresher_.several_cells());
    safeguards_.breaker().see_projects(static_cast<int>(cache.index().fleets().size()));
    const auto began = thread_cpu_time();
    state.changes = refresher_.changes();
    state.decision = decide_now(*state.policy, state.request, state.staying);
    search_times_.add(thread_cpu_time() - began);
    co_return Next::step;
}

/// What an event says of a host may be less than what happened: a move leaves room held.
void FreshDecision::forget_changed(State& state) const {
    if (state.round >= rounds_for_events) return;
    const CloudCache& cache = refresher_.cache();
    std::erase_if(state.fresh, [&](const HostId& id) { return cache.changed_since_read(id); });
}

/// Beside the room of its hosts, which `confirm_or_read` completes. No servers are deleted while
/// deletions that a reaper left unfinished bring the room.
ResultTask<FreshDecision::Next> FreshDecision::read_what_it_rests_on(State& state) {
    // No request is refused for what the events did not report.
    if (state.refused() && state.depth == HostDepth::room) {
        state.depth = HostDepth::state;
        state.fresh.clear();
    }
    const bool may_miss = !state.unfinished_known && refresher_.may_miss_unfinished();
    forget_changed(state);
    Together also;
    also.unfinished = state.lacks_room() && (may_miss || refresher_.saw_soft_deletion());
    if (!state.tags_known) also.tags_by = state.policy;
    if (also.unfinished || also.tags_by) {
        also.hosts = unread_hosts(state.decision, state.request.id, state.fresh, false);
        const bool decides_again = !also.hosts.empty() || !state.tags_known;
        state.reserved_known = state.reserved_known && also.hosts.empty();
        state.fresh.insert(also.hosts.begin(), also.hosts.end());
        state.unfinished_known = state.unfinished_known || also.unfinished;
        state.tags_known = true;
        const auto changed = co_await read_together(std::move(also), state.depth);
        if (!changed) co_return changed.error();
        if (*changed || decides_again) co_return Next::round;
    }
    // What a resize left behind is room of its server, too.
    if (state.lacks_room() && !state.resizes_known) {
        state.resizes_known = true;
        const auto changed = co_await refresher_.refresh_resizes();
        if (!changed) co_return changed.error();
        if (*changed) co_return Next::round;
    }
    co_return Next::step;
}

/// A revocable one may borrow. No servers are deleted while room is idle that is reserved for it.
ResultTask<FreshDecision::Next> FreshDecision::use_reserved_room(State& state) {
    const bool borrows = state.request.borrows && std::holds_alternative<Refused>(state.decision);
    const bool by_role = state.lacks_room() && reservations_ != nullptr &&
                         state.request.source != RequestSource::reservation;
    if (state.reserved_known || (!borrows && !by_role)) co_return Next::step;
    state.reserved_known = true;
    Request request = state.request;
    ReservationController::Release given;
    if (borrows) {
        given = co_await borrow(state.policy, std::move(request), Giving::write);
        if (!given.would) state.request.lent_by = given.by;
    } else {
        auto not_those = state.staying;
        given = co_await release_reserved(state.policy, std::move(request), state.decision,
                                          std::move(not_those), Giving::write);
    }
    if (given.would) {
        state.decision = std::move(*given.would);
        co_return Next::answer;
    }
    if (!given.by.empty()) co_return Next::round;
    co_return Next::step;
}

/// Of a plan with victims: someone holds there what is promised to another request, and events have
/// not said who. If the room is promised to that one, it counts once.
std::vector<HostId> FreshDecision::hosts_with_unknown_takers(const State& state) const {
    std::vector<HostId> ids;
    if (state.depth != HostDepth::room || !refresher_.flowing()) return ids;
    for (const HostPlan& plan : host_plans(state.decision)) {
        const Host* const host = refresher_.cache().find(plan.host);
        if (host == nullptr || plan.victims.empty() || state.listed.contains(plan.host)) continue;
        const auto promises = rooms_.ledger().promises_on(plan.host);
        const bool unknown = std::ranges::any_of(promises, [&](const auto* each) {
            return each->request != state.request.id && each->reservation.empty() &&
                   each->open() > 0 && is_held_by_unknown(*each, *host);
        });
        if (unknown) ids.push_back(plan.host);
    }
    return ids;
}

/// What the decision rests on is fresh, or is read; of a refusal, at last the services and the
/// whole cloud.
ResultTask<FreshDecision::Next> FreshDecision::confirm_or_read(State& state) {
    // Other parts may have changed the cache meanwhile, so that it is older than what it rests on.
    if (refresher_.changes() != state.changes && state.round < rounds_for_events)
        co_return Next::round;
    auto unread = unread_hosts(state.decision, state.request.id, state.fresh, state.second_look);
    const auto& phases = state.request.phases;
    const bool second_choice =
        state.takes_room() && phases.both && phases.first == ResType::revocable;
    if (second_choice) add_offering(*state.policy, state.fresh, unread);
    const bool read_for_it = refresher_.build() > state.builds_before;
    const bool looks_again =
        state.refused() && !read_for_it && (state.second_look || state.third_look);
    if (unread.empty() && !looks_again) {
        auto unlisted = hosts_with_unknown_takers(state);
        if (unlisted.empty()) co_return co_await confirm(state);
        state.listed.insert(unlisted.begin(), unlisted.end());
        const auto read = co_await refresher_.read_hosts(std::move(unlisted), HostDepth::state);
        if (!read) co_return read.error();
        co_return Next::round;
    }
    if (state.refused() && state.second_look) {
        // A host that was down or disabled may be back.
        state.second_look = false;
        auto services = co_await refresher_.refresh_aggregates();
        if (!services) co_return services.error();
    } else if (state.refused()) {
        // No request is refused for a cache that missed something; but not for every one a
        // reading of the whole cloud.
        state.third_look = false;
        auto again = co_await refresher_.rebuild_unless_recent();
        if (!again) co_return again.error();
    }
    state.fresh.insert(unread.begin(), unread.end());
    auto read = co_await refresher_.read_hosts(std::move(unread), state.depth);
    if (!read) co_return read.error();
    state.reserved_known = false;  // what seemed taken may be idle
    co_return Next::round;
}

ResultTask<FreshDecision::Next> FreshDecision::confirm(State& state) {
    const auto locked = co_await skip_locked(state.decision, state.lock_asked, state.skipped);
    if (!locked) co_return locked.error();
    if (*locked) {
        --state.round;  // as many as there are locks
        co_return Next::round;
    }
    const DecisionSight sight{*state.policy, state.request, refresher_.cache(), rooms_.ledger(),
                              safeguards_,   state.staying, state.decision,     state.now};
    if (observer_ != nullptr) observer_->on_decision(sight);
    co_return Next::answer;
}

// What is answered to who only asks: by the cache as it is.

std::optional<std::string> FreshDecision::why_without_reservations() const {
    if (reservations_ == nullptr) return std::nullopt;
    const auto why = reservations_->why_not_known();
    if (!why) return std::nullopt;
    return why->what;
}

/// The role is known then; no wait but Keystone's, and other callers are not blocked.
Task<void> FreshDecision::look_up_role(Request& request) {
    if (reservations_ == nullptr || reservations_->why_not_known()) co_return;
    ProjectId project = request.project;
    request.role = co_await reservations_->role_of(std::move(project), Giving::look);
}

Task<Decision> FreshDecision::would_decide(std::shared_ptr<const CompiledPolicy> policy,
                                           Request request) {
    Decision decision = co_await decide_on_cache(std::move(policy), std::move(request));
    add_names(refresher_.cache().project_names(), decision);
    co_return decision;
}

Task<RoomAnswer> FreshDecision::room_for(std::shared_ptr<const CompiledPolicy> policy,
                                         Request request) {
    RoomAnswer answer = co_await room_on_cache(std::move(policy), std::move(request));
    add_names(refresher_.cache().project_names(), answer.decision);
    co_return answer;
}

Task<Decision> FreshDecision::decide_on_cache(std::shared_ptr<const CompiledPolicy> policy,
                                              Request request) {
    co_await look_up_role(request);
    if (!policy->protection.by_owners()) co_await refresher_.learn_lock_holders();
    // No pause from here on: what the question may have is in the ledger only while it is asked.
    if (reservations_ != nullptr) reservations_->update_ledger();
    request.borrows = would_borrow(*policy, request);
    const RoomKeeper::Question question{rooms_, request};
    const auto skipped = refresher_.kept_by_nova();
    Decision decision = decide_now(*policy, request, skipped);
    ReservationController::Release given;
    if (request.borrows && std::holds_alternative<Refused>(decision)) {
        Request borrower = request;
        given = co_await borrow(std::move(policy), std::move(borrower), Giving::look);
    } else if (reservations_ != nullptr && !std::holds_alternative<NothingToDo>(decision)) {
        std::map<ServerId, std::string> no_servers;
        Request for_role = request;
        given = co_await release_reserved(std::move(policy), std::move(for_role), decision,
                                          std::move(no_servers), Giving::look);
    }
    if (given.would) co_return std::move(*given.would);
    co_return decision;
}

Task<RoomAnswer> FreshDecision::room_on_cache(std::shared_ptr<const CompiledPolicy> policy,
                                              Request request) {
    co_await look_up_role(request);
    if (!policy->protection.by_owners()) co_await refresher_.learn_lock_holders();
    if (reservations_ != nullptr) reservations_->update_ledger();
    request.borrows = would_borrow(*policy, request);
    const RoomKeeper::Question question{rooms_, request};
    const auto skipped = refresher_.kept_by_nova();
    const CloudCache& cache = refresher_.cache();
    const TimePoint now = clock_.now();
    std::vector<Host> given;
    if (reservations_ != nullptr) given = reservations_->as_if_given(request);
    if (given.empty())
        co_return reaper::room_for(*policy, request, cache.index(), cache.tag_data(),
                                   rooms_.ledger(), now, safeguards_, skipped);
    CloudIndex hosts;
    hosts.protect(policy->protection);
    for (const Host* const host : cache.hosts()) hosts.put(*host);
    for (const Host& host : given) hosts.put(host);
    co_return reaper::room_for(*policy, request, hosts, cache.tag_data(), rooms_.ledger(), now,
                               safeguards_, skipped);
}

// The decision of a correction: it rests on one host, and looks for no room.

namespace {

/// Of the host, before it is given up that a bulk reading takes the place of each.
constexpr int max_readings = 8;

}  // namespace

ResultTask<Decision> FreshDecision::decide_correction(std::shared_ptr<const CompiledPolicy> policy,
                                                      Request request,
                                                      std::map<ServerId, std::string> skipped) {
    auto usable = co_await refresher_.ensure_usable(refresher_.builds_begun());
    if (!usable) co_return usable.error();
    const bool by_aggregate =
        policy->safeguards.limits.victims_per_aggregate > 0 || policy->protection.by_aggregates();
    std::set<ServerId> lock_asked;
    for (int readings = 0; readings < max_readings; ++readings) {
        const std::uint64_t build = refresher_.build();
        auto tag_data = co_await refresher_.refresh_tag_data(policy);
        if (!tag_data) co_return tag_data.error();
        if (by_aggregate) {
            auto aggregates = co_await refresher_.refresh_aggregates();
            if (!aggregates) co_return aggregates.error();
        }
        std::vector<HostId> ids{request.correction->host};
        auto read = co_await refresher_.read_hosts(std::move(ids), HostDepth::state);
        if (!read) co_return read.error();
        if (build != refresher_.build()) continue;
        const CloudCache& cache = refresher_.cache();
        const TimePoint now = clock_.now();
        rooms_.observe([&cache](const HostId& id) { return cache.find(id); },
                       cache.index().changes(), now);
        safeguards_.breaker().see_projects(static_cast<int>(cache.index().fleets().size()));
        const auto need = needed(request);
        if (!need) co_return need.error();
        auto staying = skipped;
        if (*need)
            skip_beyond(**need, *request.correction, cache.index(), rooms_.ledger(), staying);
        Decision decision = reaper::decide(*policy, request, cache.index(), cache.tag_data(),
                                           rooms_.ledger(), now, safeguards_, std::move(staying));
        const auto locked = co_await skip_locked(decision, lock_asked, skipped);
        if (!locked) co_return locked.error();
        if (!*locked) co_return decision;
    }
    co_return Error{Errc::conflict, "the cloud is being read again all the time"};
}

}  // namespace reaper

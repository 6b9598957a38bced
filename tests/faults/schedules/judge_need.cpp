// The judgement on rules 2 and 3: do the deletions of a plan make its slots, and does it take them?
#include <algorithm>

#include "faults/schedules/checker.hpp"

namespace reaper::faults {

namespace {

/// A host's readings for a plan begin at most this long before the last of them.
constexpr Duration readings_take = std::chrono::seconds{1};

}  // namespace

/// All or nothing: what others delete is gone before any server is deleted for the rest.
void Checker::judge_awaited(const Exchange& call, const Basis& basis, const PlanRecord& plan) {
    if (plan.judged || plan_.lies()) return;
    for (const HostPlan& host : plan.plan->hosts)
        for (const PendingRelease& pending_releases : host.pending_releases) {
            const HostState* state = truth_.state_at(host.host_name, call.sent_at);
            const auto id = Uuid::parse(pending_releases.server.str());
            const Holder* holder = state != nullptr && id ? state->holder(*id) : nullptr;
            if (holder != nullptr && !holder->released)
                blame("rule-2", basis.server.text() + " is deleted for " + plan.request +
                                    " before it is known whether " + pending_releases.server.str() +
                                    " goes, which its plan awaits");
        }
}

/// A plan of which a victim was spared does not give its slots: what was not decided by then must
/// not be sent. The order is the journal's.
void Checker::judge_stop(const PlanRecord& plan, const std::string& server) {
    const RequestRecord& record = journals_[plan.machine]->records.at(RequestId{plan.request});
    const auto victims = plan.plan->victims();
    const auto of_plan = [&](const ServerId& id) {
        return std::any_of(victims.begin(), victims.end(),
                           [&](const Victim& victim) { return victim.server == id; });
    };
    std::string skipped;
    for (const StepEntry& step : record.steps) {
        if (step.at < record.plans[plan.index].at || !of_plan(step.server)) continue;
        if (step.step == Step::skipped) skipped = step.server.str();
        if (step.step == Step::delete_sent && step.server.str() == server && !skipped.empty() &&
            skipped != server)
            blame("rule-2", server + " is deleted for " + plan.request + " after " + skipped +
                                " of the same plan was spared");
    }
}

/// Is it one of the promise's requesters, or a second try of the same shape that came after it?
bool Checker::takes(const Holder& holder, const Promise& promise) const {
    if (promise.requesters.contains(holder.consumer)) return true;
    return holder.placed_at && holder.project == promise.project && holder.held == promise.slot &&
           *holder.placed_at >= std::chrono::floor<std::chrono::seconds>(promise.span.from);
}

/// In the same second, and there before: the reaper may have seen it, or not yet.
bool Checker::was_there(const Holder& holder, const Promise& promise) const {
    const HostState* before = truth_.state_at(promise.host, promise.span.from);
    return before != nullptr && before->holder(holder.consumer) != nullptr &&
           !promise.requesters.contains(holder.consumer);
}

/// Has it room there that was promised to its own request? It takes that, and not another's.
bool Checker::has_own(const Holder& holder, const Promise& promise) const {
    if (promise.requesters.contains(holder.consumer)) return false;
    return std::any_of(promises_.begin(), promises_.end(), [&](const Promise& other) {
        return other.host == promise.host && other.requesters.contains(holder.consumer);
    });
}

/// The promise counts from when the reaper learns that the requester failed: by a look, by a
/// message that is late, or after a restart. As long as it looks after the room, it may keep it
/// again.
bool Checker::may_be_renewed(const Promise& promise, const PlanRecord& plan) const {
    if (promise.machine != plan.machine) return false;
    const auto& records = journals_[promise.machine]->records;
    const auto record = records.find(RequestId{promise.request});
    const bool ended = record != records.end() && record->second.freed_room.has_value();
    return finished_[promise.machine].contains(promise.request) && !ended;
}

/// A plan that was stopped before any deletion holds nothing, and the journal does not tell when it
/// was. Room is given back early when its requester no longer waits, or when a like request of the
/// same project shows that its room is of no use to it.
bool Checker::surely_held(const Promise& promise, TimePoint at) const {
    const Demand* demand = truth_.demand(promise.request);
    const bool over = demand == nullptr || (demand->over_since && *demand->over_since <= at);
    if (over || promise.perhaps) return false;
    // It counts from the end of the cull, which a full disk may write down much later.
    const auto& records = journals_[promise.machine]->records;
    const auto record = records.find(RequestId{promise.request});
    if (record != records.end() && record->second.outcome &&
        at > record->second.outcome->at + plan_.cull.promise && !plan_.has(Kind::clock_step))
        return false;
    const auto& all_culled = culled_[promise.machine];
    const auto culled = all_culled.find(promise.request);
    if (culled == all_culled.end() || culled->second > at || lost_a_victim(promise)) return false;
    for (const auto& [id, other] : truth_.demands())
        if (id != demand->id && other.refused_at >= demand->refused_at &&
            demand->room_may_go_to(other))
            return false;
    return true;
}

/// Where a victim of the plan lives on, its room does not come: nothing is held there.
bool Checker::lost_a_victim(const Promise& promise) const {
    const auto& records = journals_[promise.machine]->records;
    const auto record = records.find(RequestId{promise.request});
    if (record == records.end()) return false;
    std::set<ServerId> lost;
    for (const StepEntry& step : record->second.steps)
        if (step.step == Step::skipped || step.step == Step::failed || step.step == Step::unseen ||
            step.step == Step::left_shelved)
            lost.insert(step.server);
    return std::any_of(evictions_.begin(), evictions_.end(), [&](const Eviction& eviction) {
        return eviction.request == promise.request && eviction.host == promise.host &&
               lost.contains(ServerId{eviction.server});
    });
}

Resources Checker::promised_to_others(const PlanRecord& plan, const std::string& host, TimePoint at,
                                      bool surely) const {
    Resources promised;
    const HostState* state = truth_.state_at(host, at);
    std::set<Uuid> counted;
    for (const Promise& promise : promises_) {
        if (promise.host != host) continue;
        // What another machine's reaper promised, this one's does not know.
        const bool covers = promise.span.covers(at) ||
                            (!surely && promise.span.from <= at && may_be_renewed(promise, plan));
        const bool held =
            promise.request != plan.request && covers &&
            (!surely || (promise.machine == plan.machine && surely_held(promise, at)));
        // Who took a slot of an earlier promise did not take one of this.
        if (!held && (surely || promise.span.from > at)) continue;
        int left = promise.slots;
        // While a cull is under way, its slots are held in full: who came is counted at its end.
        // Where the clock was set, it is not known who came later.
        const bool counted_yet =
            surely || (promise.span.until.has_value() && !plan_.has(Kind::clock_step));
        if (state && counted_yet)
            for (const Holder& holder : state->holders)
                if (left > 0 && !counted.contains(holder.consumer) && takes(holder, promise) &&
                    (surely || (!was_there(holder, promise) && !has_own(holder, promise)))) {
                    counted.insert(holder.consumer);
                    --left;
                }
        // Who claimed through the gateway elsewhere needs no slot here, as the reaper knows at
        // once. If none waits any longer, slots for alternatives are given up.
        const auto placed = [&](const std::string& besides) {
            return truth_.placed_besides(besides, promise.requesters, promise.span.from, at);
        };
        if (surely) left = std::max(left - placed(host), 0);
        if (surely && placed("") == static_cast<int>(promise.requesters.size())) left = 0;
        if (held) promised += promise.slot * left;
    }
    return promised;
}

std::optional<std::string> Checker::victim_of(const Uuid& server, TimePoint at) const {
    for (const Eviction& eviction : evictions_)
        if (eviction.server == server.text() && eviction.span.covers(at)) return eviction.request;
    return std::nullopt;
}

Resources Checker::surely_promised_on(const std::string& host, const std::string& besides,
                                      TimePoint at) const {
    PlanRecord asks;
    asks.machine = machine_;
    asks.request = besides;
    return promised_to_others(asks, host, at, true);
}

Resources Checker::promised_on(const std::string& host, const std::string& besides) const {
    const TimePoint now = timeline_.true_now();
    const HostState* const state = truth_.state_at(host, now);
    Resources promised;
    for (const Promise& promise : promises_) {
        if (promise.host != host || promise.request == besides || !promise.span.covers(now))
            continue;
        int left = promise.slots;
        for (const Uuid& requester : promise.requesters)
            left -= state != nullptr && state->holder(requester) != nullptr;
        promised += promise.slot * std::max(left, 0);
    }
    return promised;
}

/// A victim whose deletion the cloud has, and of which the plan's reaper can know: its own, or one
/// that another machine's left soft-deleted, if nothing may keep it from finishing that (as where
/// it is no longer revocable).
bool Checker::knows_of(const PlanRecord& plan, const Eviction& eviction) const {
    const auto died = died_.find(eviction.server);
    if (died == died_.end()) return false;
    if (eviction.machine == plan.machine) return true;
    for (const Kind kind : {Kind::lock, Kind::protect, Kind::retag, Kind::migrate, Kind::reload,
                            Kind::forbidden_403, Kind::conflict_409})
        if (plan_.has(kind)) return false;
    const auto id = Uuid::parse(eviction.server);
    const cloudsim::Server* const server = id ? site_.world().nova.find_server(*id) : nullptr;
    if (server != nullptr && !is_revocable(*server)) return false;
    return plan_.soft_delete && died->second <= plan.process_began;
}

/// Servers whose room comes free: victims of this plan and of others, and what others delete.
/// `known_only`: of the latter, those of which the plan's readings told, lately.
std::set<std::string> Checker::going_on(const PlanRecord& plan, const std::string& host,
                                        const HostState& state, bool known_only) const {
    constexpr Duration surely_awaited = std::chrono::seconds{10};
    std::set<std::string> going;
    std::set<std::string> given_up;
    for (const Eviction& eviction : evictions_)
        if (eviction.host == host && eviction.span.covers(state.at)) {
            // Who waited for it for a whole deadline gives it up, however late the force-delete
            // was.
            const bool lately = state.at - eviction.span.from < plan_.cull.deadline;
            if (!known_only || (knows_of(plan, eviction) && lately)) going.insert(eviction.server);
            if (!lately && eviction.machine == plan.machine) given_up.insert(eviction.server);
        }
    for (const HostPlan& part : plan.plan->hosts)
        if (part.host_name == host)
            for (const Victim& victim : part.victims) going.insert(victim.holder().str());
    const auto listed = plan.listed_at.find(host);
    for (const Holder& holder : state.holders) {
        if (!holder.leaving_since) continue;
        const bool known = !given_up.contains(holder.consumer.text()) &&
                           listed != plan.listed_at.end() &&
                           *holder.leaving_since <= listed->second &&
                           plan.at - *holder.leaving_since < surely_awaited;
        if (known || !known_only) going.insert(holder.consumer.text());
    }
    return going;
}

/// The victim whose resize left room behind that this consumer holds; empty if there is none.
std::string Checker::left_behind_by(const PlanRecord& plan, const std::string& consumer) {
    for (const HostPlan& part : plan.plan->hosts)
        for (const Victim& victim : part.victims)
            if (victim.held_by.str() == consumer) return victim.server.str();
    return "";
}

int Checker::slots_on(const PlanRecord& plan, const Demand& demand, const std::string& host,
                      TimePoint at, const std::optional<std::string>& without) const {
    const HostState* state = truth_.state_at(host, at);
    if (state == nullptr || !state->usable) return 0;
    HostState now = *state;
    now.at = at;
    Resources room = now.free;
    std::set<std::string> going = going_on(plan, host, now, without.has_value());
    if (without)
        std::erase_if(going, [&](const std::string& server) {
            return server == *without || left_behind_by(plan, server) == *without;
        });
    for (const std::string& server : going) {
        const auto id = Uuid::parse(server);
        if (const Holder* holder = id ? now.holder(*id) : nullptr) room += holder->held;
    }
    if (without) room -= lacked_by_others(host, plan.request, now);
    // What makes a victim needed counts as much as it can; what makes a plan good, as little.
    room -= promised_to_others(plan, host, at, !without.has_value());
    const std::size_t limit = limit_after(demand, host, now, going, without.has_value());
    return static_cast<int>(std::min(limit, static_cast<std::size_t>(fit(room, demand.slot))));
}

/// Room on the host was not taken before the plan, for all that its machine knows: then it is left
/// out, though another machine's reaper freed it for this very request.
bool Checker::cools_down(const PlanRecord& plan, const HostPlan& host) const {
    const auto& records = journals_[plan.machine]->records;
    return std::any_of(records.begin(), records.end(), [&](const auto& each) {
        const auto& result = each.second.freed_room;
        return result && result->at <= plan.at &&
               std::find(result->untaken.begin(), result->untaken.end(), host.host) !=
                   result->untaken.end();
    });
}

int Checker::slots_at(const PlanRecord& plan, const Demand& demand, TimePoint at,
                      const std::optional<std::string>& without) const {
    int slots = 0;
    std::set<std::string> counted;
    for (const HostPlan& host : plan.plan->hosts) {
        slots += std::min(host.slots, slots_on(plan, demand, host.host_name, at, without));
        counted.insert(host.host_name);
    }
    // Room that was made for the request before, elsewhere; what a reaper with another journal
    // keeps there is unknown to this one until it ends that.
    const auto is_kept = [&](const HostPlan& host) {
        const HostState* const state = truth_.state_at(host.host_name, at);
        return !plan_.shares_journal() && state != nullptr && !state->kept.empty();
    };
    for (const PlanRecord& earlier : plans_) {
        if (earlier.request != plan.request || !earlier.judged || earlier.at >= plan.at) continue;
        const bool of_another = earlier.machine != plan.machine;
        for (const HostPlan& host : earlier.plan->hosts)
            if (host.slots > 0 && !(of_another && (cools_down(plan, host) || is_kept(host))) &&
                counted.insert(host.host_name).second)
                slots += std::min(host.slots, slots_on(plan, demand, host.host_name, at, without));
    }
    return slots;
}

/// Every time at which something changed, from the readings that the plan rests on.
std::vector<TimePoint> Checker::change_times(const PlanRecord& plan, TimePoint until) const {
    TimePoint from = plan.at;
    for (const HostPlan& host : plan.plan->hosts) {
        const auto read = plan.read_at.find(host.host_name);
        from = std::min(from, read == plan.read_at.end() ? plan.at - std::chrono::minutes{1}
                                                         : read->second - readings_take);
    }
    std::set<TimePoint> all{from, plan.at, until};
    for (const HostPlan& host : plan.plan->hosts)
        for (const HostState* state : truth_.states(host.host_name, from, until))
            all.insert(std::max(from, state->at));
    for (const Promise& promise : promises_) {
        all.insert(std::clamp(promise.span.from, from, until));
        if (promise.span.until) all.insert(std::clamp(*promise.span.until, from, until));
    }
    for (const Eviction& eviction : evictions_)
        if (eviction.span.until) all.insert(std::clamp(*eviction.span.until, from, until));
    if (const Demand* demand = truth_.demand(plan.request); demand && demand->joins())
        for (const auto& [host, limits] : demand->limits)
            for (const auto& [since, limit] : limits) all.insert(std::clamp(since, from, until));
    return {all.begin(), all.end()};
}

/// For people: the arithmetic, step by step, and what the plan says of other hosts.
void Checker::explain(const PlanRecord& plan, const Demand& demand, const std::string& id) {
    trace_.line("?   slot " + to_string(demand.slot));
    for (const Rejection& other : plan.plan->rejected)
        trace_.line("?   not on " + other.host_name + ": " + other.reason);
    std::vector<HostPlan> hosts = plan.plan->hosts;
    for (const PlanRecord& earlier : plans_)
        if (earlier.request == plan.request && earlier.judged && earlier.at < plan.at)
            hosts.insert(hosts.end(), earlier.plan->hosts.begin(), earlier.plan->hosts.end());
    for (const TimePoint at : change_times(plan, timeline_.true_now()))
        for (const HostPlan& host : hosts) {
            const HostState* state = truth_.state_at(host.host_name, at);
            if (state == nullptr) continue;
            std::string text =
                "?   " + std::to_string((at - timeline_.true_now()).count()) + " ms " +
                host.host_name + " planned " + std::to_string(host.slots) + ", has " +
                std::to_string(slots_on(plan, demand, host.host_name, at, {})) + ", without it " +
                std::to_string(slots_on(plan, demand, host.host_name, at, id)) + "; free " +
                to_string(state->free) + "; going";
            HostState now = *state;
            now.at = at;
            for (const auto& server : going_on(plan, host.host_name, now, false))
                if (const Holder* holder = now.holder(*Uuid::parse(server)))
                    text += ' ' + server.substr(0, 8) + " (" + to_string(holder->held) + ")";
            for (const Promise& promise : promises_)
                if (promise.host == host.host_name && promise.span.covers(at)) {
                    text += "; " + promise.request.substr(0, 12) + " holds " +
                            std::to_string(promise.slots) + " x " + to_string(promise.slot);
                    for (const Holder& holder : state->holders)
                        if (takes(holder, promise))
                            text += ", taken by " + holder.consumer.text().substr(0, 8);
                }
            trace_.line(text + "; promised " +
                        to_string(promised_to_others(plan, host.host_name, at, false)) +
                        ", surely " +
                        to_string(promised_to_others(plan, host.host_name, at, true)));
        }
}

void Checker::judge_need(const Exchange& call, const Basis& basis, const cloudsim::Server& server) {
    if (plan_.lies()) return;
    (void)call;
    const std::string id = basis.server.text();
    PlanRecord& plan = *plan_for(id, basis.machine);
    const Demand& demand = *truth_.demand(plan.request);
    (void)server;
    ++tally_.judged;
    int planned = 0;
    for (const HostPlan& host : plan.plan->hosts) planned += host.slots;
    if (planned > demand.slots * plan_.policy.alternatives)
        blame("rule-2", plan.request + " wants " + std::to_string(demand.slots) +
                            " slots, its plan frees " + std::to_string(planned));
    int most = 0;
    bool needed = false;
    for (const TimePoint at : change_times(plan, timeline_.true_now())) {
        most = std::max(most, slots_at(plan, demand, at, std::nullopt));
        needed = needed || slots_at(plan, demand, at, id) < planned;
    }
    if (!needed || (!plan.judged && most < planned)) explain(plan, demand, id);
    if (!needed)
        blame("rule-3", id + " is deleted for " + plan.request + ", and its " +
                            std::to_string(planned) + " slots were there without it");
    if (!plan.judged && most < planned)
        blame("rule-2", id + " is deleted for " + plan.request + ", whose plan gives " +
                            std::to_string(most) + " of " + std::to_string(planned) + " slots");
}

}  // namespace reaper::faults

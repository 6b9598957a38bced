// The judgement on one deletion, when the cloud receives it.
#include <algorithm>

#include "faults/schedules/checker.hpp"

namespace reaper::faults {

namespace {

/// How old a look, and what it rests on, may be when the deletion is sent: it holds for 5 s from
/// its first question, and what is known of tags is a second older at most.
constexpr Duration recheck_valid_for = std::chrono::seconds{7};

/// The same for the question whether the requester waits, which comes once for a cull.
constexpr Duration freshness = std::chrono::seconds{35};

/// How long one answer about tags serves concurrent victims.
constexpr Duration tags_serve = std::chrono::seconds{1};

}  // namespace

/// The plan in the journal that this deletion belongs to: the last one with that victim, or with
/// that deletion to finish, which several may have: then one of a request that is not finished.
Checker::PlanRecord* Checker::plan_for(const std::string& server, std::size_t machine) {
    PlanRecord* found = nullptr;
    const auto has = [&](const HostPlan& host) {
        return std::any_of(host.victims.begin(), host.victims.end(),
                           [&](const Victim& victim) { return victim.server.str() == server; }) ||
               std::any_of(host.pending_releases.begin(), host.pending_releases.end(),
                           [&](const PendingRelease& other) {
                               return other.unfinished && other.server.str() == server;
                           });
    };
    const auto& sent_for = journals_[machine]->sent_for;
    const auto sender = sent_for.find(ServerId{server});
    bool sent = false;
    for (PlanRecord& record : plans_) {
        if (!record.plan || record.machine != machine ||
            std::none_of(record.plan->hosts.begin(), record.plan->hosts.end(), has))
            continue;
        // Others may count on it by now.
        const bool its = sender != sent_for.end() && record.request == sender->second.str();
        if (its || (!sent && (found == nullptr || !finished_[machine].contains(record.request) ||
                              finished_[machine].contains(found->request))))
            found = &record;
        sent = sent || its;
    }
    return found;
}

void Checker::judge(const Exchange& call, const Basis& basis) {
    ++tally_.deletions;
    accepted_.insert(basis.server);
    const cloudsim::Server& server = *site_.world().nova.find_server(basis.server);
    trace_.line("the reaper deletes " + server.id.text() + " on " +
                (server.host ? server.host->name : "no host"));
    judge_right(call, basis, server);
    const std::string id = server.id.text();
    const Step needed = basis.forced    ? Step::force_delete_sent
                        : basis.shelved ? Step::shelve_sent
                                        : Step::delete_sent;
    if (basis.forced && !deleted_by_a_reaper(server))
        blame("rule-1", id + " is forced, which its user deleted and may want back");
    if (!journals_[basis.machine]->has_step(id, needed))
        blame("rule-5", "the journal does not tell that " + id + " is deleted");
    PlanRecord* plan = plan_for(id, basis.machine);
    if (plan == nullptr) {
        blame("rule-5", "no plan in the journal has " + id);
        return;
    }
    auto& finished = finished_[basis.machine];
    if (finished.contains(plan->request) && finished[plan->request] < call.sent_at)
        blame("rule-4", id + " is deleted for " + plan->request + ", which is finished");
    const auto& asked = journals_[basis.machine]->records.at(RequestId{plan->request}).request;
    if (asked.correction) {
        if (!basis.forced) judge_correction(call, basis, *asked.correction, *plan);
        return;
    }
    const Demand* demand = truth_.demand(plan->request);
    if (demand == nullptr) {
        blame("rule-4", "Nova never refused " + plan->request);
        return;
    }
    // What is half deleted is not spared by a second thought.
    if (basis.forced) return;
    judge_departure(basis, server);
    judge_requester(call, basis, *demand, *plan);
    judge_newest(basis, *demand, *plan);
    judge_awaited(call, basis, *plan);
    judge_stop(*plan, id);
    if (!plan->judged) judge_places(*plan, *demand);
    judge_need(call, basis, server);
    judge_tenants(*plan, *demand, server);
    plan->judged = true;
    died_.try_emplace(id, timeline_.true_now());
    culled_[basis.machine].try_emplace(plan->request, timeline_.true_now());
}

/// What can be shelved is deleted only if Nova was asked to shelve it before.
void Checker::judge_departure(const Basis& basis, const cloudsim::Server& server) {
    if (basis.shelved) ++tally_.shelved;
    if (!plan_.with_shelving() || basis.shelved || !basis.look || !basis.look->shelvable) return;
    const bool shelvable =
        server.state == cloudsim::VmState::active && server.task == cloudsim::TaskState::none;
    if (shelvable && !journals_[basis.machine]->has_step(server.id.text(), Step::shelve_sent))
        blame("shelve", server.id.text() + " is deleted, and could be shelved");
}

/// As Nova's record of actions has it: who deleted it first, or before it was restored.
bool Checker::deleted_by_a_reaper(const cloudsim::Server& server) const {
    const auto* const user = site_.world().identity.user_named("reaper");
    bool by_us = false;
    bool restored = false;
    bool older = false;
    for (auto at = server.actions.rbegin(); at != server.actions.rend(); ++at) {
        if (at->name == "lock" || at->name == "unlock") continue;
        const bool deletes = at->name == "delete";
        const bool ours = deletes && site_.world().names.text(at->user) == user->id;
        if (restored && ours) return true;
        restored = restored || at->name == "restore";
        older = older || !deletes;
        if (!older) by_us = ours;
    }
    return by_us;
}

/// Rule 1: on the last look, and on nothing older.
void Checker::judge_right(const Exchange& call, const Basis& basis,
                          const cloudsim::Server& server) {
    const std::string id = server.id.text();
    const std::string project = site_.world().names.text(server.project);
    const bool revocable = is_revocable(server);
    const bool asked_tags = !plan_.by_tag() || basis.tags;
    const bool asked_class = !plan_.by_class() || basis.held;
    if (!basis.look || !asked_tags || !asked_class) {
        blame("rule-1", id + " is deleted, and was not looked at");
        return;
    }
    const RecheckResult& look = *basis.look;
    const bool untrue =
        look.untrue || (basis.tags && basis.tags->untrue) || (basis.held && basis.held->untrue);
    const bool tagged =
        plan_.by_tag() && (basis.tags->revocable.contains(project) || basis.tags->untrue ||
                           tagged_since(project, call.sent_at - tags_serve));
    const bool holds = plan_.by_class() && (basis.held->holds_class || basis.held->untrue);
    if (!site_.world().is_revocable(tagged, holds)) {
        ++tally_.regular_killed;
        blame("rule-1", id + " is regular, and the reaper knew it");
    }
    judge_age(call, basis);
    if (!look.fit && !look.untrue) blame("rule-1", id + " is deleted, though it is " + look.why);
    if (call.sent_at - look.answered_at > recheck_valid_for)
        blame("rule-1", id + " was looked at " +
                            std::to_string((call.sent_at - look.answered_at).count()) +
                            " ms before its deletion was sent");
    if (plan_.by_class() && call.sent_at - basis.held->answered_at > recheck_valid_for)
        blame("rule-1", "what " + id + " holds was looked at " +
                            std::to_string((call.sent_at - basis.held->answered_at).count()) +
                            " ms before its deletion was sent");
    if (plan_.by_tag() && call.sent_at - basis.tags->answered_at > recheck_valid_for)
        blame("rule-1", "the project of " + id + " was looked at " +
                            std::to_string((call.sent_at - basis.tags->answered_at).count()) +
                            " ms before the deletion was sent");
    const PlanRecord* plan = plan_for(id, basis.machine);
    if (plan && !basis.forced)
        for (const HostPlan& host : plan->plan->hosts)
            for (const Victim& victim : host.victims)
                if (victim.server.str() == id && victim.held_by.empty() &&
                    look.host != host.host_name && !untrue)
                    blame("rule-1", id + " is on " + look.host + ", planned on " + host.host_name);
    const std::string became = revocable ? why_spared(server) : "regular";
    if (!became.empty() && violations_.empty()) {
        ++tally_.races[became];
        trace_.line("a race: " + id + " became " + became + " after the last look");
    }
}

/// By what it holds, or what is kept of that.
bool Checker::is_revocable(const cloudsim::Server& server) const {
    const auto& world = site_.world();
    return world.is_revocable(
        world.is_tagged(server.project),
        world.holds_revocable(server.id) || world.holds_revocable(escrow_consumer_of(server.id)));
}

/// Did an answer that came since then tell so? Such a one serves victims side by side.
bool Checker::tagged_since(const std::string& project, TimePoint since) const {
    return std::any_of(earlier_tags_.begin(), earlier_tags_.end(), [&](const Tags& tags) {
        return tags.answered_at >= since && tags.revocable.contains(project);
    });
}

/// Requester first: no servers deleted for a requester that the reaper could know to be gone;
/// rule 7.
void Checker::judge_requester(const Exchange& call, const Basis& basis, const Demand& demand,
                              const PlanRecord& plan) {
    const auto tagged = truth_.revocable_since(demand.project);
    // Half a list of projects that looks like the whole can't be distinguished from it.
    const bool told = !untrue_tags_at_ || *untrue_tags_at_ < demand.refused_at;
    if (site_.world().is_revocable(tagged && *tagged <= demand.refused_at && told,
                                   demand.asks_class))
        blame("rule-7",
              basis.server.text() + " is deleted for a revocable requester, " + demand.id);
    if (plan.judged || !demand.over_since || !basis.requester_seen) return;
    // The room was handed to a like request that waits for this very victim.
    const auto waits_for_it = [&](const PlanRecord& other) {
        const Demand* heir = truth_.demand(other.request);
        if (!other.plan || heir == nullptr || heir->over_since || heir->id == demand.id ||
            heir->project != demand.project || !(heir->slot == demand.slot))
            return false;
        for (const HostPlan& host : other.plan->hosts)
            for (const PendingRelease& pending_releases : host.pending_releases)
                if (pending_releases.server.str() == basis.server.text()) return true;
        return false;
    };
    if (std::any_of(plans_.begin(), plans_.end(), waits_for_it)) return;
    // ... or will, once it has a plan: it is with the reaper.
    const auto has_no_plan_yet = [&](const auto& entry) {
        const Demand& heir = entry.second;
        return !heir.over_since && heir.id != demand.id && demand.room_may_go_to(heir) &&
               journals_[basis.machine]->records.contains(RequestId{heir.id}) &&
               std::none_of(plans_.begin(), plans_.end(), [&](const PlanRecord& other) {
                   return other.plan && other.request == heir.id;
               });
    };
    const auto& demands = truth_.demands();
    if (std::any_of(demands.begin(), demands.end(), has_no_plan_yet)) return;
    if (*basis.requester_seen > *demand.over_since)
        blame("requester-first", basis.server.text() + " is deleted for " + demand.id +
                                     ", though the reaper saw that the requester no longer waits");
    if (call.sent_at - *demand.over_since > freshness + std::chrono::seconds{50})
        blame("requester-first", basis.server.text() + " is deleted for " + demand.id +
                                     ", whose requester no longer waits");
}

/// An older request of the same servers no longer counts, once the reaper knows the newer one; a
/// former process may have known it.
void Checker::judge_newest(const Basis& basis, const Demand& demand, const PlanRecord& plan) {
    // After a restart what was decided goes on; whether it is needed is asked when planning again.
    if (plan.judged || plan.at <= started_at_ || plan_.has(Kind::clock_step)) return;
    const auto newer_than = [&](const Uuid& server) {
        return std::any_of(delivered_.begin(), delivered_.end(), [&](const auto& told) {
            const Demand* other = truth_.demand(told.first);
            return told.second > started_at_ && told.second < plan.at && other != nullptr &&
                   other->servers.contains(server) &&
                   other->refused_at > demand.refused_at + std::chrono::seconds{1};
        });
    };
    if (std::all_of(demand.servers.begin(), demand.servers.end(), newer_than))
        blame("rule-4", basis.server.text() + " is deleted for " + demand.id +
                            ", whose server has a newer request");
}

}  // namespace reaper::faults

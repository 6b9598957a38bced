#include "reaper/recording/stage.hpp"

#include <algorithm>
#include <ratio>
#include <utility>

#include "reaper/decision/decide.hpp"
#include "reaper/planner/cells.hpp"

namespace reaper::recording {
namespace {

/// Is the circuit that held it one that the settings have too?
bool has_circuit(const SafeguardSettings& settings, std::string_view held) {
    if (held == safeguard::breaker)
        return settings.breaker.wasted > 0 || settings.breaker.failed > 0;
    if (held == safeguard::project_breaker) return settings.project_breaker.wasted > 0;
    if (held == safeguard::unproven) return settings.project_breaker.unproven > 0;
    if (held == safeguard::short_lived) return settings.short_lived.allowance > 0;
    if (held == safeguard::shape_cooldown) return settings.shape_cooldown.wasted > 0;
    return true;
}

/// In place of a plan that deletes servers.
Decision not_now(Plan plan, std::string_view safeguard, std::string reason) {
    NotEnough answer;
    answer.slots_requested = plan.slots_requested;
    answer.slots_possible = plan.slots_freed;
    answer.reason = std::move(reason);
    answer.safeguard = safeguard;
    answer.rejected = std::move(plan.rejected);
    answer.rejected_counts = std::move(plan.rejected_counts);
    return answer;
}

/// As the circuits of then decide it.
Decision unless_held(Decision decision, const Seen& seen, const CompiledPolicy& policy) {
    auto* const plan = std::get_if<Plan>(&decision);
    if (plan == nullptr || plan->victims().empty()) return decision;
    if (!seen.held.empty() && has_circuit(policy.safeguards, seen.held))
        return not_now(std::move(*plan), seen.held, seen.held_because);
    const bool in_its_cell =
        policy.scheduler.cells.empty() && stays_in_cell(seen.request, policy.scheduler);
    if (seen.no_move && in_its_cell)
        return not_now(std::move(*plan), safeguard::cell_cooldown, *seen.no_move);
    return decision;
}

PastVictim past(const Victim& victim, const Seen& seen) {
    return {seen.at,     seen.request.id, victim.server,        victim.name,   victim.project,
            victim.host, victim.workload, seen.request.project, victim.created};
}

double hours(Duration span) {
    return std::chrono::duration<double, std::ratio<3600>>(span).count();
}

}  // namespace

void Stage::use(ReplayPolicy policy) {
    const bool other_tags = policy.retags;
    policy_ = std::move(policy);
    index_.protect(policy_.compiled->protection);
    if (other_tags) retag_all();
}

void Stage::use(TagData tag_data) {
    tag_data_ = std::move(tag_data);
    if (policy_.retags) retag_all();
}

std::optional<std::string> Stage::unknown_tag() const {
    if (!policy_.retags) return std::nullopt;
    for (const std::string& tag : policy_.compiled->tagger_inputs().project_tags)
        if (!tag_data_.projects_by_tag.contains(tag)) return tag;
    return std::nullopt;
}

void Stage::tag(Host& host) const {
    if (!policy_.retags || !policy_.compiled) return;
    for (Server& server : host.servers) reaper::tag(server, policy_.compiled->taggers, tag_data_);
}

void Stage::retag_all() {
    for (auto& [id, kept] : hosts_) {
        tag(*kept.host);
        index_.put(*kept.host);
    }
}

void Stage::put(Host host) {
    tag(host);
    auto next = std::make_unique<Host>(std::move(host));
    index_.put(*next);
    Kept& kept = hosts_[next->id];
    std::swap(kept.host, next);  // the one before lives until the index knows this one
}

void Stage::erase(const HostId& host) {
    index_.erase(host);
    hosts_.erase(host);
}

void Stage::clear() {
    index_.clear();
    hosts_.clear();
}

Decision Stage::decide(const Seen& seen, const std::vector<PastVictim>& history,
                       std::map<ServerId, std::string> skipped) const {
    const CompiledPolicy& policy = *policy_.compiled;
    Safeguards safeguards{policy.safeguards};
    safeguards.see_several_cells(seen.several_cells);
    for (const PastVictim& victim : history) safeguards.note_victim(victim);
    safeguards.note_cooldown(seen.request.id, {seen.cooling.begin(), seen.cooling.end()}, seen.at);
    Ledger ledger = seen.ledger;
    const std::set<ServerId> given_up(seen.given_up.begin(), seen.given_up.end());
    if (!given_up.empty())
        for (const auto& [id, kept] : hosts_)
            for (const Server& server : kept.host->servers)
                if (given_up.contains(server.id)) ledger.give_up_on(id, server.id, seen.at);
    Decision decision = reaper::decide(policy, seen.request, index_, tag_data_, ledger, seen.at,
                                       safeguards, std::move(skipped));
    return unless_held(std::move(decision), seen, policy);
}

Decision Stage::decide_as_recorded(const Seen& seen) const {
    return decide(seen, seen.history, seen.skipped);
}

Choice Stage::decide_on(const Seen& seen, const std::set<RequestId>& replayed) {
    std::vector<PastVictim> history;
    for (const PastVictim& victim : seen.history)
        if (!replayed.contains(victim.request)) history.push_back(victim);
    history.insert(history.end(), gone_.begin(), gone_.end());
    std::map<ServerId, std::string> skipped = seen.skipped;
    for (const auto& [server, request] : gone_for_)
        skipped.emplace(server, "it went for an earlier request of the replay");
    Choice choice{decide(seen, history, std::move(skipped))};
    const auto* const plan = std::get_if<Plan>(&choice.decision);
    if (plan == nullptr) return choice;
    static const ResourceClass vcpu{"VCPU"};
    for (const Victim& victim : plan->victims()) {
        const double age = std::max(0.0, hours(seen.at - victim.created));
        choice.lost_hours += age;
        choice.lost_vcpu_hours += age * static_cast<double>(victim.resources.get(vcpu));
        gone_.push_back(past(victim, seen));
        gone_for_.emplace(victim.server, seen.request.id);
    }
    return choice;
}

}  // namespace reaper::recording

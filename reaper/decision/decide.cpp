#include "reaper/decision/decide.hpp"

#include <functional>
#include <utility>

#include "reaper/decision/guarded_plan.hpp"
#include "reaper/decision/requester_class.hpp"
#include "reaper/planner/cells.hpp"
#include "reaper/planner/constraint_checker.hpp"
#include "reaper/planner/planner.hpp"
#include "reaper/planner/revocable_room.hpp"

namespace reaper {
namespace {

/// Where nobody tells which host is in which cell, a move whose like was culled for in vain, or may
/// have been, is not culled for.
Decision unless_cooling_down(Decision decision, const Request& request, const SchedulerRules& rules,
                             const Safeguards& safeguards) {
    const auto* const plan = std::get_if<Plan>(&decision);
    if (plan == nullptr || !rules.cells.empty() || !stays_in_cell(request, rules)) return decision;
    if (plan->victims().empty()) return decision;
    auto why = safeguards.why_no_move(request);
    if (!why) return decision;
    NotEnough answer;
    answer.slots_requested = plan->slots_requested;
    answer.slots_possible = plan->slots_freed;
    answer.reason = std::move(*why);
    answer.safeguard = safeguard::cell_cooldown;
    return answer;
}

std::size_t victims_of(const Decision& decision) {
    const auto* const plan = std::get_if<Plan>(&decision);
    return plan == nullptr ? 0 : plan->victims().size();
}

Refused refused_as_revocable(const std::string& why) {
    return Refused{"the requester is revocable itself: " + why};
}

/// Says of each host that its slots are those of the fallback.
void mark_fallback(Decision& decision, const Resources& slot) {
    static const std::string why =
        "its CPUs as VCPU, for which Nova asks Placement too (scheduler.pcpu_fallback)";
    if (auto* const plan = std::get_if<Plan>(&decision)) {
        plan->note += (plan->note.empty() ? "" : "; ") + why;
        for (auto& host : plan->hosts) host.slot = slot;
    } else if (auto* const nothing = std::get_if<NothingToDo>(&decision)) {
        nothing->reason += "; " + why;
        for (auto& host : nothing->hosts) host.slot = slot;
    }
}

/// Nova asks for both, and takes a host of either: the one with fewer victims.
Decision plan_either(const Request& request, const SchedulerRules& rules,
                     const std::function<Decision(const Request&)>& plan) {
    Decision first = plan(request);
    if (!request.fallback || !rules.pcpu_fallback || std::holds_alternative<NothingToDo>(first))
        return first;
    Decision second = plan(by_fallback(request));
    const bool only_first = std::holds_alternative<NotEnough>(second);
    const bool only_second = std::holds_alternative<NotEnough>(first);
    if (only_first || (!only_second && victims_of(first) <= victims_of(second))) return first;
    mark_fallback(second, request.fallback->resources);
    return second;
}

}  // namespace

Decision decide(const CompiledPolicy& policy, const Request& request, const CloudView& cache,
                const Ledger& ledger, std::map<ServerId, std::string> skipped) {
    Safeguards nothing_known{policy.safeguards};
    return decide(policy, request, cache, ledger, nothing_known, std::move(skipped));
}

Decision decide(const CompiledPolicy& policy, const Request& request, const CloudIndex& hosts,
                const TagData& tag_data, const Ledger& ledger, TimePoint now,
                std::map<ServerId, std::string> skipped) {
    Safeguards nothing_known{policy.safeguards};
    return decide(policy, request, hosts, tag_data, ledger, now, nothing_known, std::move(skipped));
}

Decision decide(const CompiledPolicy& policy, const Request& request, const CloudView& cache,
                const Ledger& ledger, Safeguards& safeguards,
                std::map<ServerId, std::string> skipped) {
    const CloudIndex hosts{cache.snapshot, policy.protection};
    return decide(policy, request, hosts, cache.tag_data, ledger, cache.snapshot.taken_at,
                  safeguards, std::move(skipped));
}

Decision decide(const CompiledPolicy& policy, const Request& request, const CloudIndex& hosts,
                const TagData& tag_data, const Ledger& ledger, TimePoint now,
                Safeguards& safeguards, std::map<ServerId, std::string> skipped) {
    if (!request.placement.first_hosts.empty()) {
        Request there = request;
        there.placement.only_hosts = std::exchange(there.placement.first_hosts, {});
        Decision decision =
            decide(policy, there, hosts, tag_data, ledger, now, safeguards, skipped);
        if (!host_plans(decision).empty()) return decision;
    }
    PlanOptions options;
    options.scheduler = &policy.scheduler;
    options.alternatives = policy.alternatives;
    options.seed = seed_of(request.id);
    options.now = now;
    options.skipped = std::move(skipped);
    if (request.correction)
        return correction_under(safeguards, request, hosts, ledger, std::move(options));
    const auto why_revocable = why_requester_revocable(policy, request, hosts, tag_data);
    if (why_revocable && !request.borrows) return refused_as_revocable(*why_revocable);
    if (auto why = outside_all_shards(request, policy.scheduler, hosts))
        return Refused{std::move(*why)};
    if (auto why = why_cell_unknown(request, policy.scheduler, hosts))
        return Refused{std::move(*why)};
    const std::function<Decision(ResType)> search = [&](ResType type) -> Decision {
        if (type == ResType::revocable)
            return plan_either(request, policy.scheduler, [&](const Request& asked) {
                return find_revocable_room(asked, hosts, ledger, policy.revocable_classes,
                                           &policy.scheduler);
            });
        return unless_cooling_down(plan_either(request, policy.scheduler,
                                               [&](const Request& asked) {
                                                   return plan_under(safeguards, asked, hosts,
                                                                     ledger, *policy.strategy,
                                                                     policy.strategy_name, options);
                                               }),
                                   request, policy.scheduler, safeguards);
    };
    if (why_revocable) {
        // Room that is there; whom a plan would delete for it does not matter. What others deleted
        // is not waited for: it may take a deletion of ours.
        Decision there = search(ResType::regular);
        const auto* const nothing = std::get_if<NothingToDo>(&there);
        if (nothing != nullptr && nothing->pending_releases().empty()) return there;
        return refused_as_revocable(*why_revocable);
    }
    return decide_in_phases(request.phases, search);
}

}  // namespace reaper

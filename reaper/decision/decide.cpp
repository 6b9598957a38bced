#include "reaper/decision/decide.hpp"

#include <functional>
#include <utility>

#include "reaper/decision/guarded_plan.hpp"
#include "reaper/planner/cells.hpp"
#include "reaper/planner/constraint_checker.hpp"
#include "reaper/planner/planner.hpp"
#include "reaper/planner/revocable_room.hpp"

namespace reaper {
namespace {

/// Where nobody tells which host is in which cell, a move whose like was culled for in vain is not
/// culled for.
Decision unless_cooling_down(Decision decision, const Request& request, const SchedulerRules& rules,
                             const Safeguards& safeguards) {
    const auto* const plan = std::get_if<Plan>(&decision);
    if (plan == nullptr || !rules.cells.empty() || !stays_in_cell(request, rules)) return decision;
    auto why = safeguards.cell_cooldowns().why(request.from_host, safeguards.several_cells());
    if (!why) return decision;
    NotEnough answer;
    answer.slots_requested = plan->slots_requested;
    answer.slots_possible = plan->slots_freed;
    answer.reason = std::move(*why);
    answer.safeguard = safeguard::cell_cooldown;
    return answer;
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
    if (auto why = why_revocable(request, policy.taggers, tag_data))
        return Refused{"the requester is revocable itself: " + *why};
    if (auto why = outside_all_shards(request, policy.scheduler, hosts))
        return Refused{std::move(*why)};
    if (auto why = why_cell_unknown(request, policy.scheduler, hosts))
        return Refused{std::move(*why)};
    PlanOptions options;
    options.scheduler = &policy.scheduler;
    options.alternatives = policy.alternatives;
    options.seed = seed_of(request.id);
    options.now = now;
    options.skipped = std::move(skipped);
    const std::function<Decision(ResType)> search = [&](ResType type) -> Decision {
        if (type == ResType::revocable)
            return find_revocable_room(request, hosts, ledger, policy.revocable_classes,
                                       &policy.scheduler);
        return unless_cooling_down(plan_under(safeguards, request, hosts, ledger, *policy.strategy,
                                              policy.strategy_name, options),
                                   request, policy.scheduler, safeguards);
    };
    return decide_in_phases(request.phases, search);
}

}  // namespace reaper

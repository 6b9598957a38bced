#include "reaper/decision/guarded_plan.hpp"

#include <utility>

#include "reaper/decision/attempts.hpp"
#include "reaper/decision/budget_usage.hpp"

namespace reaper {

Decision plan_under(Safeguards& safeguards, const Request& request, const CloudIndex& cloud,
                    const Ledger& ledger, const Strategy& strategy, std::string_view strategy_name,
                    PlanOptions options) {
    safeguards.prune(options.now);
    const Budgets left = BudgetUsage{safeguards.settings().limits,
                                     options.scheduler,
                                     safeguards.history(),
                                     request.id,
                                     cloud,
                                     ledger,
                                     options.now}
                             .left();
    options.protection = &safeguards.protection();
    options.budgets = left.empty() ? nullptr : &left;
    Attempts attempts{request, cloud, ledger, strategy, strategy_name, safeguards.settings(),
                      options};
    Decision decision =
        attempts.run(safeguards.thrashing(options.now), safeguards.cooldowns().reasons());
    auto* const plan = std::get_if<Plan>(&decision);
    if (plan == nullptr || plan->victims().empty()) return decision;
    auto held = safeguards.why_not_now(request, options.now);
    if (!held) return decision;
    NotEnough not_now;
    not_now.slots_requested = plan->slots_requested;
    not_now.slots_possible = plan->slots_freed;
    not_now.reason = std::move(held->reason);
    not_now.safeguard = held->safeguard;
    not_now.rejected = std::move(plan->rejected);
    not_now.rejected_counts = std::move(plan->rejected_counts);
    return not_now;
}

}  // namespace reaper

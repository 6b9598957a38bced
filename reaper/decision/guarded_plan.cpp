#include "reaper/decision/guarded_plan.hpp"

#include <utility>

#include "reaper/decision/attempts.hpp"
#include "reaper/decision/budget_usage.hpp"
#include "reaper/decision/run_times.hpp"
#include "reaper/planner/correction_plan.hpp"

namespace reaper {
namespace {

Budgets budgets_left(const Safeguards& safeguards, const Request& request, const CloudIndex& cloud,
                     const Ledger& ledger, const PlanOptions& options) {
    Budgets left = BudgetUsage{safeguards.settings().limits,
                               options.scheduler,
                               safeguards.history(),
                               request,
                               cloud,
                               ledger,
                               options.now}
                       .left();
    left.project_names = &cloud.project_names();
    return left;
}

/// A plan that deletes servers is none where none are deleted for the request now.
Decision unless_held(Decision decision, const Safeguards& safeguards, const Request& request,
                     TimePoint now) {
    auto* const plan = std::get_if<Plan>(&decision);
    if (plan == nullptr || plan->victims().empty()) return decision;
    auto held = safeguards.why_not_now(request, now);
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

/// What can be done about it.
Decision with_advice(Decision decision) {
    auto* const less = std::get_if<NotEnough>(&decision);
    if (less != nullptr && less->safeguard == safeguard::limit_request)
        less->reason +=
            "; for more, an operator approves a plan (reaper plan --save, then reaper apply)";
    return decision;
}

}  // namespace

Decision plan_under(Safeguards& safeguards, const Request& request, const CloudIndex& cloud,
                    const Ledger& ledger, const Strategy& strategy, std::string_view strategy_name,
                    PlanOptions options) {
    safeguards.prune(options.now);
    safeguards.deletions().see([&](const HostId& id) { return cloud.find(id); }, options.now);
    const Budgets left = budgets_left(safeguards, request, cloud, ledger, options);
    options.protection = &safeguards.protection();
    options.budgets = left.empty() ? nullptr : &left;
    Attempts attempts{request, cloud, ledger, strategy, strategy_name, safeguards.settings(),
                      options};
    Decision decision =
        attempts.run(safeguards.thrashing(options.now), safeguards.passed_over(options.now));
    return with_advice(unless_held(std::move(decision), safeguards, request, options.now));
}

Decision correction_under(Safeguards& safeguards, const Request& request, const CloudIndex& cloud,
                          const Ledger& ledger, PlanOptions options) {
    safeguards.prune(options.now);
    const Budgets left = budgets_left(safeguards, request, cloud, ledger, options);
    const RunTimes times{safeguards.settings(), options.now};
    options.protection = &safeguards.protection();
    options.victim_filter = &times;
    options.budgets = left.empty() ? nullptr : &left;
    return unless_held(plan_correction(request, cloud, ledger, options), safeguards, request,
                       options.now);
}

}  // namespace reaper

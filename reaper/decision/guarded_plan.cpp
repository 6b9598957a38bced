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
    return attempts.run(safeguards.thrashing(options.now), safeguards.cooldowns().reasons());
}

}  // namespace reaper

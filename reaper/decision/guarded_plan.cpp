#include "reaper/decision/guarded_plan.hpp"

#include <utility>

#include "reaper/decision/attempts.hpp"
#include "reaper/decision/budget_usage.hpp"

namespace reaper {

Decision plan_under(Brakes& brakes, const Request& request, const CloudIndex& cloud,
                    const Ledger& ledger, const Strategy& strategy, std::string_view strategy_name,
                    PlanOptions options) {
    brakes.prune(options.now);
    const Allowances left = Spent{brakes.settings().limits, options.landing, brakes.history(),
                                  request.id, cloud, ledger, options.now}
                                .left();
    options.protection = &brakes.protection();
    options.allowances = left.empty() ? nullptr : &left;
    Attempts attempts{request, cloud, ledger, strategy, strategy_name, brakes.settings(), options};
    return attempts.run(brakes.thrashing(options.now), brakes.doubts().reasons());
}

}  // namespace reaper

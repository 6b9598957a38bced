#include "reaper/service/decision.hpp"

#include <utility>

#include "reaper/planner/planner.hpp"

namespace reaper {

Decision decide(const CompiledPolicy& policy, const Request& request, const Picture& picture,
                const Ledger& ledger, std::map<ServerId, std::string> spared) {
    if (auto why = why_revocable(request, policy.taggers, picture.facts)) {
        NothingToDo refused;
        refused.reason = "the requester is revocable itself: " + *why;
        return refused;
    }
    PlanOptions options;
    options.alternatives = policy.alternatives;
    options.seed = seed_of(request.id);
    options.spared = std::move(spared);
    return make_plan(request, picture.snapshot, ledger, *policy.strategy, policy.strategy_name,
                     options);
}

}  // namespace reaper

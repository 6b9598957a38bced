#include "reaper/decision/decide.hpp"

#include <functional>
#include <utility>

#include "reaper/decision/guarded_plan.hpp"
#include "reaper/planner/constraint_checker.hpp"
#include "reaper/planner/planner.hpp"
#include "reaper/planner/revocable_room.hpp"

namespace reaper {

Decision decide(const CompiledPolicy& policy, const Request& request, const Picture& picture,
                const Ledger& ledger, std::map<ServerId, std::string> spared) {
    Brakes nothing_known{policy.brakes};
    return decide(policy, request, picture, ledger, nothing_known, std::move(spared));
}

Decision decide(const CompiledPolicy& policy, const Request& request, const CloudIndex& hosts,
                const TagFacts& facts, const Ledger& ledger, TimePoint now,
                std::map<ServerId, std::string> spared) {
    Brakes nothing_known{policy.brakes};
    return decide(policy, request, hosts, facts, ledger, now, nothing_known, std::move(spared));
}

Decision decide(const CompiledPolicy& policy, const Request& request, const Picture& picture,
                const Ledger& ledger, Brakes& brakes, std::map<ServerId, std::string> spared) {
    const CloudIndex hosts{picture.snapshot, policy.protection};
    return decide(policy, request, hosts, picture.facts, ledger, picture.snapshot.taken_at, brakes,
                  std::move(spared));
}

Decision decide(const CompiledPolicy& policy, const Request& request, const CloudIndex& hosts,
                const TagFacts& facts, const Ledger& ledger, TimePoint now, Brakes& brakes,
                std::map<ServerId, std::string> spared) {
    if (auto why = why_revocable(request, policy.taggers, facts)) {
        NothingToDo refused;
        refused.reason = "the requester is revocable itself: " + *why;
        return refused;
    }
    if (auto why = outside_all_shards(request, policy.landing, hosts)) {
        NothingToDo refused;
        refused.reason = std::move(*why);
        return refused;
    }
    PlanOptions options;
    options.landing = &policy.landing;
    options.alternatives = policy.alternatives;
    options.seed = seed_of(request.id);
    options.now = now;
    options.spared = std::move(spared);
    const std::function<Decision(ResType)> search = [&](ResType type) -> Decision {
        if (type == ResType::revocable)
            return find_revocable_room(request, hosts, ledger, policy.revocable_classes,
                                       &policy.landing);
        return plan_under(brakes, request, hosts, ledger, *policy.strategy, policy.strategy_name, options);
    };
    return decide_in_phases(request.phases, search);
}

}  // namespace reaper

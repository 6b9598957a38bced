#include "reaper/decision/decide.hpp"

#include <functional>
#include <utility>

#include "reaper/decision/guarded_plan.hpp"
#include "reaper/planner/constraint_checker.hpp"
#include "reaper/planner/planner.hpp"
#include "reaper/planner/revocable_room.hpp"

namespace reaper {

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
        return plan_under(safeguards, request, hosts, ledger, *policy.strategy,
                          policy.strategy_name, options);
    };
    return decide_in_phases(request.phases, search);
}

}  // namespace reaper

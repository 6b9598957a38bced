// The decision as the daemon and the operators' dry run both make it.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reaper/cloud/cache/assemble.hpp"
#include "reaper/decision/policy.hpp"
#include "reaper/model/plan.hpp"
#include "reaper/planner/cloud_index.hpp"
#include "reaper/planner/planner.hpp"
#include "reaper/planner/victim_filter.hpp"
#include "reaper/rooms/ledger.hpp"
#include "reaper/safeguards/safeguards.hpp"
#include "reaper/safeguards/settings.hpp"
#include "reaper/safeguards/workload.hpp"

namespace reaper {

// Servers that have not run long enough to be victims: the minimum run time, and the longer one of
// workloads that keep being evicted.

class RunTimes final : public RunTimeFilter {
public:
    RunTimes(const SafeguardSettings& settings, TimePoint now);

    /// Spares the young servers of these workloads from now on.
    void keep(const std::vector<Thrashing>& workloads);
    bool keeps_none() const { return longest() <= Duration::zero(); }

    std::optional<std::string> why_kept(const Server& server, const Host& host) const override;
    bool keeps(const Server& server, const Host& host) const override;
    bool may_keep(const HostRow& row) const override;
    const RunTimeRules& rules() const override { return rules_; }
    TimePoint now() const override { return now_; }
    std::optional<TimePoint> kept_until(const Server& server) const override;

private:
    const Thrashing* thrashing(const Server& server) const;
    Duration longest() const { return std::max(rules_.min_run_time, longest_grace_); }

    TimePoint now_;
    RunTimeRules rules_;
    std::map<Workload, Thrashing> skipped_;
    Duration longest_grace_{0};
    Duration max_grace_{0};
};

// Servers that can't free room for a search of nova-scheduler: whose notice is longer than it
// waits, and those that are shelved, which takes Nova as long as a snapshot.

class LateFilter final : public VictimFilter {
public:
    /// `other`: what else keeps servers; may be null. Both must outlive it.
    LateFilter(const NoticeRules& notice, const ShelveRules& shelve, Duration left,
               const VictimFilter* other)
        : notice_{notice}, shelve_{shelve}, left_{left}, other_{other} {}

    std::optional<std::string> why_kept(const Server& server, const Host& host) const override;
    bool keeps(const Server& server, const Host& host) const override;
    bool may_keep(const HostRow&) const override { return true; }

private:
    bool is_late(const Server& server) const { return notice_.left_of(server) > left_; }

    const NoticeRules& notice_;
    const ShelveRules& shelve_;
    Duration left_;
    const VictimFilter* other_;
};

// A plan under the safeguards: what they forbid is not chosen, what they advise against only where
// nothing else is enough.
//
// Hard safeguards are never passed: protected servers, the minimum run time, budgets of victims.
// Soft ones give way, in this order, when nothing else frees the requested slots, and the plan says
// so:
//   1. thrash: workloads that keep being evicted and coming back are kept while they are young;
//   2. cooldown: hosts whose freed room was not taken, or where deletions hang, are left out.
// The cooldown is the last to give way: a cull there most likely goes unused, while one more
// eviction of the same workload at least serves its requester.

/// Decides as `make_plan` does, under the safeguards; `options` without those (protection is the
/// settings', victim filter, cooldowns and budgets are made here). `options.now` must be given. A
/// plan whose servers may not be deleted now (breakers, cooldown of a shape) is a NotEnough, too.
/// What no longer counts by then is forgotten. A NotEnough that would be a plan without the
/// safeguards names the one that prevented it.
Decision plan_under(Safeguards& safeguards, const Request& request, const CloudIndex& cloud,
                    const Ledger& ledger, const Strategy& strategy, std::string_view strategy_name,
                    PlanOptions options);

/// The same for a correction (reaper/planner/correction_plan.hpp). Soft safeguards have no say:
/// another server in the place of one that is to go would not do.
Decision correction_under(Safeguards& safeguards, const Request& request, const CloudIndex& cloud,
                          const Ledger& ledger, PlanOptions options);

/// Rule 7 first: a revocable requester causes no cull; if it borrows, room is looked for that is
/// there. Then the phases of the request: regular room is the planner's, revocable room is only
/// looked for (revocable_room.hpp). A correction has neither. `skipped`: servers that must not be
/// victims, each with the reason.
Decision decide(const CompiledPolicy& policy, const Request& request, const CloudView& cache,
                const Ledger& ledger, std::map<ServerId, std::string> skipped = {});

/// The same on the cloud cache, at `now` (running times count).
Decision decide(const CompiledPolicy& policy, const Request& request, const CloudIndex& hosts,
                const TagData& tag_data, const Ledger& ledger, TimePoint now,
                std::map<ServerId, std::string> skipped = {});

/// Both under the safeguards and what they know of the past: limits, hosts in cooldown, workloads
/// that are skipped. The ones above know only the policy's word: protection, the minimum run time,
/// and the limit of one request.
Decision decide(const CompiledPolicy& policy, const Request& request, const CloudView& cache,
                const Ledger& ledger, Safeguards& safeguards,
                std::map<ServerId, std::string> skipped = {});
Decision decide(const CompiledPolicy& policy, const Request& request, const CloudIndex& hosts,
                const TagData& tag_data, const Ledger& ledger, TimePoint now,
                Safeguards& safeguards, std::map<ServerId, std::string> skipped = {});

}  // namespace reaper

// Servers that have not run long enough to be victims: the minimum run time, and the longer one of
// workloads that keep being evicted.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "reaper/planner/victim_filter.hpp"
#include "reaper/safeguards/settings.hpp"
#include "reaper/safeguards/workload.hpp"

namespace reaper {

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

}  // namespace reaper

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

class RunTimes final : public VictimFilter {
public:
    RunTimes(Duration min_run_time, std::string workload_key, TimePoint now)
        : min_run_time_{min_run_time}, workload_key_{std::move(workload_key)}, now_{now} {}

    /// Spares the young servers of these workloads from now on.
    void keep(const std::vector<Thrashing>& workloads);
    bool keeps_none() const { return longest() <= Duration::zero(); }

    std::optional<std::string> why_kept(const Server& server, const Host& host) const override;
    bool keeps(const Server& server, const Host& host) const override;
    bool may_keep(const HostRow& row) const override;

private:
    const Thrashing* thrashing(const Server& server) const;
    Duration longest() const { return std::max(min_run_time_, longest_grace_); }

    Duration min_run_time_;
    std::string workload_key_;
    TimePoint now_;
    std::map<ProjectId, std::map<std::string, Thrashing>> skipped_;
    Duration longest_grace_{0};
};

}  // namespace reaper

#include "reaper/decision/run_times.hpp"

#include <algorithm>

#include "reaper/model/text.hpp"
#include "reaper/model/time_text.hpp"
#include "reaper/safeguards/protection.hpp"

namespace reaper {

void RunTimes::keep(const std::vector<Thrashing>& workloads) {
    for (const auto& each : workloads) {
        if (each.grace <= Duration::zero()) continue;
        skipped_[each.workload.project].insert_or_assign(each.workload.name, each);
        longest_grace_ = std::max(longest_grace_, each.grace);
    }
}

/// The workload for which the server is kept now.
const Thrashing* RunTimes::thrashing(const Server& server) const {
    if (longest_grace_ <= Duration::zero() || start_of(server) <= now_ - longest_grace_)
        return nullptr;
    const auto project = skipped_.find(server.project);
    if (project == skipped_.end()) return nullptr;
    const auto at = project->second.find(workload_of(server, workload_key_).name);
    if (at == project->second.end() || start_of(server) <= now_ - at->second.grace) return nullptr;
    return &at->second;
}

std::optional<std::string> RunTimes::why_kept(const Server& server, const Host&) const {
    if (auto young = why_too_young(server, min_run_time_, now_)) return young;
    const auto* const often = thrashing(server);
    if (often == nullptr) return std::nullopt;
    return "its workload '" + printable(often->workload.name, 64) + "' was evicted " +
           std::to_string(often->evictions) + " times lately: it is kept until it has run for " +
           format_duration(often->grace) + " (thrash)";
}

bool RunTimes::keeps(const Server& server, const Host&) const {
    const bool young = min_run_time_ > Duration::zero() && start_of(server) > now_ - min_run_time_;
    return young || thrashing(server) != nullptr;
}

bool RunTimes::may_keep(const HostRow& row) const {
    return !keeps_none() && row.last_start > (now_ - longest()).time_since_epoch().count();
}

}  // namespace reaper

#include "reaper/decision/run_times.hpp"

#include <algorithm>

#include "reaper/model/text.hpp"
#include "reaper/model/time_text.hpp"
#include "reaper/safeguards/protection.hpp"

namespace reaper {

RunTimes::RunTimes(const SafeguardSettings& settings, TimePoint now) : now_{now} {
    rules_.min_run_time = settings.protect.min_run_time;
    rules_.workload_key = settings.thrash.workload_key;
    rules_.horizon = rules_.min_run_time;
    max_grace_ = settings.thrash.max_grace;
}

void RunTimes::keep(const std::vector<Thrashing>& workloads) {
    for (const auto& each : workloads) {
        if (each.grace <= Duration::zero()) continue;
        skipped_.insert_or_assign(each.workload, each);
        rules_.grace.insert_or_assign(each.workload, each.grace);
        longest_grace_ = std::max(longest_grace_, each.grace);
        // Later ones, too: what is known of servers is known for all graces.
        rules_.horizon = std::max({rules_.min_run_time, max_grace_, longest_grace_});
    }
}

/// The workload for which the server is kept now.
const Thrashing* RunTimes::thrashing(const Server& server) const {
    if (longest_grace_ <= Duration::zero() || start_of(server) <= now_ - longest_grace_)
        return nullptr;
    const auto at = skipped_.find(workload_of(server, rules_.workload_key));
    if (at == skipped_.end() || start_of(server) <= now_ - at->second.grace) return nullptr;
    return &at->second;
}

std::optional<TimePoint> RunTimes::kept_until(const Server& server) const {
    const auto* const often = thrashing(server);
    const Duration needed =
        std::max(rules_.min_run_time, often == nullptr ? Duration::zero() : often->grace);
    const TimePoint until = start_of(server) + needed;
    if (until <= now_) return std::nullopt;
    return until;
}

std::optional<std::string> RunTimes::why_kept(const Server& server, const Host&) const {
    if (auto young = why_too_young(server, rules_.min_run_time, now_)) return young;
    const auto* const often = thrashing(server);
    if (often == nullptr) return std::nullopt;
    return "its workload '" + printable(often->workload.name, 64) + "' was evicted " +
           std::to_string(often->evictions) + " times lately: it is kept until it has run for " +
           format_duration(often->grace) + " (thrash)";
}

bool RunTimes::keeps(const Server& server, const Host&) const {
    const bool young =
        rules_.min_run_time > Duration::zero() && start_of(server) > now_ - rules_.min_run_time;
    return young || thrashing(server) != nullptr;
}

bool RunTimes::may_keep(const HostRow& row) const {
    return !keeps_none() && row.last_start > (now_ - longest()).time_since_epoch().count();
}

}  // namespace reaper

// What Prometheus still knows of the use of hosts, put together for `reaper estimate`.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "config/settings.hpp"
#include "reaper/oversubscription/backtest.hpp"
#include "reaper/ports/metrics.hpp"

namespace reaper::cli {

/// Over which time, and how finely.
struct HistorySpan {
    TimePoint from{};
    TimePoint until{};
    Duration step{};
};

struct MeasuredHistory {
    std::vector<HostHistory>
        hosts;  ///< those with points and cores, in the order that was asked for
    /// Hosts without: their name, and why.
    std::map<std::string, std::string> without;
    std::set<std::string> strangers;  ///< labels that name none of the hosts
};

/// What the hosts used. Where metrics tell servers apart, those of `holders` (they hold
/// oversubscribed room now) are left out; who held some before is not known, and counts as a
/// regular server. Long times are asked for in pieces, each small enough for one answer.
ResultTask<MeasuredHistory> read_usage_history(Metrics& metrics, config::Prometheus settings,
                                               std::vector<HostFacts> hosts,
                                               std::set<ServerId> holders, HistorySpan span);

}  // namespace reaper::cli

// What an estimator would have done on a history: the same estimator and the same publication as in
// the daemon, on what was measured then. The demand is the worst that can be: whatever is published
// is taken at once, used fully, and never given back. Pure.
#pragma once

#include <string>
#include <vector>

#include "reaper/oversubscription/estimator.hpp"
#include "reaper/oversubscription/publication.hpp"

namespace reaper {

/// What was measured of one host. There was no oversubscribed room, or its holders are not in it.
struct HostHistory {
    HostFacts facts;
    double cores = 0;
    std::vector<UsagePoint> points;  ///< in the order of time
};

struct BacktestRules {
    PublicationRules publication{};
    bool evict = true;        ///< what is held beyond the estimate; else it stays forever
    bool per_server = false;  ///< the metrics distinguish servers; else only the host's whole use
    Duration eviction_takes{30'000};  ///< for this time an evicted server still uses what it holds
};

/// Of all hosts together.
struct BacktestResult {
    std::string estimator;
    double hours = 0;          ///< host-hours that the history reports
    double offered_hours = 0;  ///< vCPU-hours that were published
    double sold_hours = 0;     ///< vCPU-hours that were held
    Amount evictions = 0;      ///< times that vCPUs had to be evicted, host by host
    Amount evicted_vcpus = 0;
    double short_minutes = 0;       ///< host-minutes in which more cores were wanted than there are
    double short_core_minutes = 0;  ///< how many were missing in them
    Amount changes = 0;             ///< of the published total
    Amount left_alone = 0;          ///< times that a host flapped and was left alone

    BacktestResult& operator+=(const BacktestResult& other);
};

BacktestResult backtest(const std::vector<HostHistory>& hosts, const Estimator& estimator,
                        const BacktestRules& rules);

/// With knowledge of the future: sells what is not needed within `ahead`, without a margin. What no
/// estimator can beat, for comparison. It evicts when the use to come needs the room.
BacktestResult backtest_oracle(const std::vector<HostHistory>& hosts, Duration ahead,
                               const BacktestRules& rules);

}  // namespace reaper

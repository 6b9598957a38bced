// What single queries of oversubscription find, host by host. For `reaper check`.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "reaper/oversubscription/host_facts.hpp"
#include "reaper/ports/metrics.hpp"

namespace reaper::cli {

/// The answer to one query, by host.
struct HostFigures {
    std::map<HostId, std::vector<double>> of;
    std::set<std::string> strangers;  ///< names of no host
    std::size_t unlabelled = 0;       ///< samples without a label that is needed
    Duration clock_ahead{};           ///< of the monitoring system; 0 without samples
};

/// `server_label` may be empty: it need not be there then.
HostFigures figures_of(const std::vector<Sample>& samples, const HostNames& names,
                       const std::string& host_label, const std::string& server_label,
                       TimePoint now);

}  // namespace reaper::cli

// Samples of a monitoring system, by host: whose figure is it, and is it one? Pure.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reaper/model/cloud.hpp"
#include "reaper/oversubscription/host_facts.hpp"
#include "reaper/ports/metrics.hpp"

namespace reaper {

/// By which labels name them.
HostNames names_of(const std::vector<const Host*>& hosts);

/// One figure of a host.
struct Figure {
    double value = 0;
    TimePoint at{};   ///< that the query was evaluated for
    std::string why;  ///< not empty: it is no figure, for this reason
};

/// Those of hosts that are known. What is not finite or negative, or is told twice, is no figure.
/// `what`: its name in the reasons.
std::map<HostId, Figure> figures_by_host(const std::vector<Sample>& samples, const HostNames& names,
                                         const std::string& host_label, std::string_view what);

/// Why the times of the samples, asked for between these two moments, show that the clock of who
/// measures differs too much from ours; none if it does not.
std::optional<std::string> why_clocks_differ(const std::vector<Sample>& samples, TimePoint from,
                                             TimePoint to);

}  // namespace reaper

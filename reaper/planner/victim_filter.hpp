// What a decision leaves alone beyond what every decision does: servers that a safeguard keeps from
// being victims at that time (reaper/safeguards).
#pragma once

#include <map>
#include <optional>
#include <string>

#include "reaper/model/cloud.hpp"
#include "reaper/planner/host_row.hpp"
#include "reaper/safeguards/workload.hpp"

namespace reaper {

class RunTimeFilter;

class VictimFilter {
public:
    virtual ~VictimFilter() = default;
    /// This, if it keeps servers for their run time alone: then what is known of it lasts.
    virtual const RunTimeFilter* by_run_time() const { return nullptr; }
    /// Why the server of the host must not be a victim now, in words that do not differ from server
    /// to server without need (they are counted); none if it may.
    virtual std::optional<std::string> why_kept(const Server& server, const Host& host) const = 0;
    /// The quick answer to the same.
    virtual bool keeps(const Server& server, const Host& host) const = 0;
    /// False if no candidate of the host is kept, as far as its row shows; true if one may be.
    virtual bool may_keep(const HostRow& row) const = 0;
};

/// Which servers are too young.
struct RunTimeRules {
    Duration horizon{0};  ///< no rule, now or later, keeps a server that has run longer
    Duration min_run_time{0};
    std::string workload_key;            ///< see `workload_of`
    std::map<Workload, Duration> grace;  ///< of some, longer ones
};

class RunTimeFilter : public VictimFilter {
public:
    const RunTimeFilter* by_run_time() const final { return this; }
    virtual const RunTimeRules& rules() const = 0;
    virtual TimePoint now() const = 0;
    /// None if it is not kept now.
    virtual std::optional<TimePoint> kept_until(const Server& server) const = 0;
};

}  // namespace reaper

// Hosts that a request may go to, whatever is free on them: by state, zone, aggregates, traits,
// cooldown and all else that HostFilter asks before room. One too many may be among them (a
// provider with a forbidden trait beside others), but none is missing.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "reaper/model/request.hpp"
#include "reaper/planner/cloud_index.hpp"
#include "reaper/planner/constraint_checker.hpp"
#include "reaper/rooms/ledger.hpp"

namespace reaper {

class HostFilter;

class SuitableHosts {
public:
    /// `rules` may be null; hosts `in_cooldown` are left out. Cloud, ledger and rules must outlive
    /// this, and stay as they are.
    SuitableHosts(const Request& request, const CloudIndex& cloud, const Ledger& ledger,
                  const SchedulerRules* rules, std::map<HostId, std::string> in_cooldown = {});
    ~SuitableHosts();
    SuitableHosts(const SuitableHosts&) = delete;
    SuitableHosts& operator=(const SuitableHosts&) = delete;

    bool contains(const HostId& host) const;

private:
    struct Way;  // the request as it is, or by its fallback

    const CloudIndex& cloud_;
    const std::map<HostId, std::string> in_cooldown_;
    std::unique_ptr<Way> first_;
    std::unique_ptr<Way> second_;  ///< null: it has no fallback
};

}  // namespace reaper

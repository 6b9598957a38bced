// The duties of the policy in force: where they count, and whether a server that was to go for one,
// or for another correction, still has to. Pure.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "reaper/decision/policy.hpp"
#include "reaper/model/room_answer.hpp"
#include "reaper/planner/cloud_index.hpp"
#include "reaper/rooms/ledger.hpp"

namespace reaper {

/// Hosts whose usage counts together.
struct DutyScope {
    std::string name;  ///< for people
    std::vector<const Host*> hosts;

    bool has(const HostId& host) const;
};

/// Each shard of `watched_aggregates`, or the whole cloud. The hosts must outlive it.
std::vector<DutyScope> duty_scopes(const SchedulerRules& rules,
                                   const std::vector<const Host*>& hosts);

/// May the request come without a need, to one of the hosts that have room? Not if usage could then
/// be above a low mark of the watermark: sooner or later it would have to go for that.
bool stays_below_marks(const CompiledPolicy& policy, const Request& request,
                       const std::vector<HostSlots>& there, const std::vector<const Host*>& hosts,
                       const Ledger& ledger);

/// Adds those servers of a duty's correction that need not go now, each with the reason. Of a
/// watermark, the others do not take any usage further below its low mark than one server does.
void skip_not_due(const CompiledPolicy& policy, const Request& request, const CloudIndex& cloud,
                  const Ledger& ledger, TimePoint now, std::map<ServerId, std::string>& skipped);

/// Adds those servers of a correction without which as much comes free as is needed: the last ones
/// first, so that none of the others could be left out.
void skip_beyond(const Resources& needed, const Correction& correction, const CloudIndex& cloud,
                 const Ledger& ledger, std::map<ServerId, std::string>& skipped);

}  // namespace reaper

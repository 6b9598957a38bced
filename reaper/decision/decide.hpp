// The decision as the daemon and the operators' dry run both make it.
#pragma once

#include <map>
#include <string>

#include "reaper/cloud_cache/assemble.hpp"
#include "reaper/decision/policy.hpp"
#include "reaper/model/plan.hpp"
#include "reaper/planner/cloud_index.hpp"
#include "reaper/rooms/ledger.hpp"
#include "reaper/safeguards/safeguards.hpp"

namespace reaper {

/// Rule 7 first: a revocable requester causes no cull; if it borrows, room is looked for that is
/// there. Then the phases of the request: regular room is the planner's, revocable room is only
/// looked for (revocable_room.hpp). A correction has neither. `skipped`: servers that must not be
/// victims, each with the reason.
Decision decide(const CompiledPolicy& policy, const Request& request, const CloudView& cache,
                const Ledger& ledger, std::map<ServerId, std::string> skipped = {});

/// The same on the cloud cache, at `now` (running times count).
Decision decide(const CompiledPolicy& policy, const Request& request, const CloudIndex& hosts,
                const TagData& tag_data, const Ledger& ledger, TimePoint now,
                std::map<ServerId, std::string> skipped = {});

/// Both under the safeguards and what they know of the past: limits, hosts in cooldown, workloads
/// that are skipped. The ones above know only the policy's word: protection, the minimum run time,
/// and the limit of one request.
Decision decide(const CompiledPolicy& policy, const Request& request, const CloudView& cache,
                const Ledger& ledger, Safeguards& safeguards,
                std::map<ServerId, std::string> skipped = {});
Decision decide(const CompiledPolicy& policy, const Request& request, const CloudIndex& hosts,
                const TagData& tag_data, const Ledger& ledger, TimePoint now,
                Safeguards& safeguards, std::map<ServerId, std::string> skipped = {});

}  // namespace reaper

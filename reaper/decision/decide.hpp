// The decision as the daemon and the operators' dry run both make it.
#pragma once

#include <map>
#include <string>

#include "reaper/safeguards/safeguards.hpp"
#include "reaper/rooms/ledger.hpp"
#include "reaper/model/plan.hpp"
#include "reaper/planner/cloud_index.hpp"
#include "reaper/decision/policy.hpp"
#include "reaper/cloud_cache/assemble.hpp"

namespace reaper {

/// Rule 7 first: a revocable requester causes no cull. Then the phases of the request: regular room
/// is the planner's, revocable room is only looked for (revocable_room.hpp). `spared`: servers that
/// must not be victims, each with the reason.
Decision decide(const CompiledPolicy& policy, const Request& request, const Picture& picture,
                const Ledger& ledger, std::map<ServerId, std::string> spared = {});

/// The same on the live picture, at `now` (running times count).
Decision decide(const CompiledPolicy& policy, const Request& request, const CloudIndex& hosts,
                const TagFacts& facts, const Ledger& ledger, TimePoint now,
                std::map<ServerId, std::string> spared = {});

/// Both under the brakes and what they know of the past: limits, doubted hosts, workloads that are
/// spared. The ones above know only the policy's word: protection, the minimum run time, and the
/// limit of one request.
Decision decide(const CompiledPolicy& policy, const Request& request, const Picture& picture,
                const Ledger& ledger, Brakes& brakes, std::map<ServerId, std::string> spared = {});
Decision decide(const CompiledPolicy& policy, const Request& request, const CloudIndex& hosts,
                const TagFacts& facts, const Ledger& ledger, TimePoint now, Brakes& brakes,
                std::map<ServerId, std::string> spared = {});

}  // namespace reaper

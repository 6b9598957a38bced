// The phase of a request that looks for revocable room: no servers deleted for it.
//
// A revocable server takes one of a revocable class (reaper/planner/host_label.hpp) on top of what
// it takes anyway; where the class is named `CUSTOM_REVOCABLE_X` and the request takes X, it stands
// for X (oversubscribed room: so many of it in place of X). A host that is wrapped for the phase
// gives as many such slots as Placement would allot at once: room that is promised to other
// requests, or still to come free, does not count.
#pragma once

#include <functional>
#include <vector>

#include "reaper/model/plan.hpp"
#include "reaper/model/request.hpp"
#include "reaper/planner/cloud_index.hpp"
#include "reaper/planner/host_label.hpp"
#include "reaper/rooms/ledger.hpp"

namespace reaper {

/// What one slot takes as a revocable server's, for each class that can make it one; by class.
std::vector<Resources> revocable_slots(const Resources& slot,
                                       const ResourceClasses& revocable_classes);

/// NothingToDo with the hosts, first by name, if all slots have room; else NotEnough with why not.
/// `placement`: where requests may land; null: no rules.
Decision find_revocable_room(const Request& request, const CloudIndex& cloud, const Ledger& ledger,
                             const ResourceClasses& revocable_classes,
                             const SchedulerRules* scheduler = nullptr);

/// What becomes of a request of these phases. `search` decides for one kind of room: about regular
/// room it may return a plan, about revocable room it must not. The second phase is searched if the
/// first is NotEnough; the answer combines what both say.
Decision decide_in_phases(const Phases& phases, const std::function<Decision(ResType)>& search);

}  // namespace reaper

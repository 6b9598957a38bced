// Where a request's slots are there without a deletion, and how many: the planner's own count of
// each host, for those who ask before there is a request.
#pragma once

#include <vector>

#include "reaper/model/placement_constraints.hpp"
#include "reaper/model/request.hpp"
#include "reaper/model/room_answer.hpp"
#include "reaper/planner/cloud_index.hpp"
#include "reaper/rooms/ledger.hpp"

namespace reaper {

/// The hosts that have room for at least one, by name, however many the request asks for. Room that
/// is promised to other requests does not count. `rules` may be null.
std::vector<HostSlots> slots_there(const Request& request, const CloudIndex& cloud,
                                   const Ledger& ledger, const SchedulerRules* rules);

}  // namespace reaper

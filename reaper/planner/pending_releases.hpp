// Room on its way: which servers that are going already must be gone before a plan's slots are
// there.
#pragma once

#include <vector>

#include "reaper/model/plan.hpp"
#include "reaper/rooms/room.hpp"

namespace reaper {

/// Servers being deleted (of `room.going`, by id) without which the host does not give `slots`
/// slots; no one of them could be left out. `now`: the pools' room, those that are going (and
/// victims, if there are any) counted as gone.
///
/// What another request's victims bring stands for what is promised to it first: room that is free
/// today need not wait for them. Where several providers have a class this is not looked into, and
/// more may be pending than need be. Deletions that strangers began are left out before those of
/// other requests, and these before its own. O(going^2 * pools).
std::vector<PendingRelease> pending_for(const HostRoom& room, const Shape& shape, const ByPool& now,
                                        Amount slots);

/// Slots that need not wait for any deletion; those beyond `most` are not searched for.
Amount slots_at_once(const HostRoom& room, const Shape& shape, const ByPool& now, Amount most);

}  // namespace reaper

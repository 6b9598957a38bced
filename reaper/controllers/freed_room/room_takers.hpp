// Who got freed room before its request did. Pure.
#pragma once

#include <set>
#include <vector>

#include "reaper/model/cloud.hpp"
#include "reaper/model/request.hpp"
#include "reaper/model/time.hpp"
#include "reaper/rooms/ledger.hpp"

namespace reaper {

/// Servers that came to hosts where room was freed, and without which it would be there.
struct RoomTakers {
    std::vector<ServerId> revocable;
    std::vector<ServerId> regular;
};

/// Created or started since then, as far as Nova's whole seconds tell.
bool came_since(const Server& server, TimePoint since);

/// Who took the room of `request` on a host since it was decided. `neighbours`: who was there all
/// the time; null: not known. False: nobody did, the room for a slot is there, or is gone for
/// another reason.
bool note_takers(const Host& host, const Request& request, const Ledger& ledger, TimePoint decided,
                 const std::set<ServerId>* neighbours, RoomTakers& takers);

}  // namespace reaper

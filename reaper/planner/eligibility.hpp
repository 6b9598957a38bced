// Which servers may be victims, as far as the server itself shows: one rule for the planner and for
// the fresh read before a deletion.
#pragma once

#include <optional>
#include <string>

#include "reaper/model/cloud.hpp"

namespace reaper {

/// Its deletion has begun (task state `deleting`, `soft-deleting`, or status DELETED), whatever
/// client asked for it.
bool is_being_deleted(const Server& server);

/// Whether it can be a victim: the quick answer to what `why_no_victim` explains.
bool may_be_victim(const Server& server);

/// Why the server can't be a victim: in a state in which it stays (reaper/model/server_state.hpp),
/// without a host or without room in Placement. None if it may. Says nothing about whether it is
/// revocable, locked or protected.
std::optional<std::string> why_no_victim(const Server& server);

}  // namespace reaper

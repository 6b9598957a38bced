// Which servers may be victims, as far as the server itself tells: one rule for the planner and for
// the fresh read before a deletion.
#pragma once

#include <optional>
#include <string>

#include "reaper/model/cloud.hpp"

namespace reaper {

/// Its deletion has begun (task state `deleting`, `soft-deleting`, or status DELETED), whoever
/// asked for it.
bool is_being_deleted(const Server& server);

/// Whether it can be a victim: the quick answer to what `why_no_victim` tells in words.
bool may_be_victim(const Server& server);

/// Why the server can't be a victim: locked, being changed, in a status that can't be deleted
/// safely (BUILD, SOFT_DELETED, ...), without a host or without room in Placement. None if it may.
/// Says nothing about whether it is revocable.
std::optional<std::string> why_no_victim(const Server& server);

}  // namespace reaper

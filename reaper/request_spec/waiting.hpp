// Does a server that could not be placed still wait for room?
#pragma once

#include <optional>
#include <string>

#include "reaper/model/records.hpp"
#include "reaper/model/request.hpp"

namespace reaper {

/// Why `requester` waits no more, by Nova's record of it read now (none: Nova knows it no more);
/// none if it may. One that has no host waits (a failed build, `pending`, shelved); one that was to
/// leave its host waits while it is there and at rest.
std::optional<std::string> why_not_waiting(const Request& request, const ServerId& requester,
                                           const std::optional<ServerRecord>& record);

/// Is Nova at it, so that the requester may still come for the room by itself? A server that failed
/// to boot never does: its user has to ask again.
bool is_searched_for(const Request& request, const std::optional<ServerRecord>& record);

/// Has it got a host, so that the room there is its own?
bool is_placed(const Request& request, const std::optional<ServerRecord>& record);

}  // namespace reaper

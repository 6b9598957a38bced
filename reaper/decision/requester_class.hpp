// Is the requester a revocable server itself? Then no server is deleted for it (rule 7).
#pragma once

#include <optional>
#include <string>

#include "reaper/decision/policy.hpp"
#include "reaper/model/plan.hpp"
#include "reaper/model/request.hpp"
#include "reaper/planner/cloud_index.hpp"

namespace reaper {

/// Why it is; none: it is regular. The taggers judge what it asks for; of a running server, also
/// what it holds: it may have got revocable room though its flavor does not ask for any. While it
/// moves, Placement names one of its migrations as the holder. If these are not known, and a server
/// that moves from its host holds revocable room, the requester counts as that server. The host
/// that it leaves must have been read for that.
std::optional<std::string> why_requester_revocable(const CompiledPolicy& policy,
                                                   const Request& request, const CloudIndex& hosts,
                                                   const TagData& tag_data);

/// Rule 7.
Refused refused_as_revocable(const std::string& why);

/// Does it hang on the host that the request's server leaves?
bool moves_from_revocable_room(const CompiledPolicy& policy, const Request& request);

}  // namespace reaper

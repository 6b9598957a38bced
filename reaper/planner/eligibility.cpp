#include "reaper/planner/eligibility.hpp"

#include <algorithm>

#include "reaper/model/server_state.hpp"
#include "reaper/model/text.hpp"

namespace reaper {
namespace {

using Fate = ServerState::Fate;

std::string state_text(const Server& server) {
    const std::string task = printable(server.task_state, 64);
    return printable(server.status, 64) + (task.empty() ? "" : ", " + task);
}

bool promises_room(const Server& server) {
    return std::any_of(server.allocations.begin(), server.allocations.end(),
                       [](const auto& held) { return !held.second.empty(); });
}

}  // namespace

bool may_be_victim(const Server& server) {
    return state_of(server).fate == Fate::goes && !server.host.empty() && promises_room(server);
}

bool is_being_deleted(const Server& server) {
    return state_of(server).fate == Fate::going;
}

std::optional<std::string> why_no_victim(const Server& server) {
    const ServerState state = state_of(server);
    if (state.fate != Fate::goes)
        return std::string{state.reason} + " (" + state_text(server) + ")";
    if (server.host.empty()) return "it has no host";
    if (!promises_room(server)) return "it holds no room in Placement";
    return std::nullopt;
}

}  // namespace reaper

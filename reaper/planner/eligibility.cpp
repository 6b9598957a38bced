#include "reaper/planner/eligibility.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "reaper/model/text.hpp"

namespace reaper {
namespace {

/// Statuses in which a server rests: nothing is under way that a deletion would cut in two.
constexpr std::array<std::string_view, 7> resting{"ACTIVE", "SHUTOFF", "PAUSED", "SUSPENDED",
                                                  "ERROR",  "RESCUE",  "SHELVED"};

bool rests(const Server& server) {
    return std::find(resting.begin(), resting.end(), server.status) != resting.end();
}

bool promises_room(const Server& server) {
    return std::any_of(server.allocations.begin(), server.allocations.end(),
                       [](const auto& held) { return !held.second.empty(); });
}

}  // namespace

bool may_be_victim(const Server& server) {
    return !server.locked && server.task_state.empty() && rests(server) && !server.host.empty() &&
           promises_room(server);
}

bool is_being_deleted(const Server& server) {
    return server.being_deleted() || server.task_state == "deleting" ||
           server.task_state == "soft-deleting";
}

std::optional<std::string> why_no_victim(const Server& server) {
    if (server.locked) return "it is locked";
    if (!server.task_state.empty())
        return "it is being changed (" + printable(server.task_state, 64) + ")";
    if (!rests(server)) return "its status is " + printable(server.status, 64);
    if (server.host.empty()) return "it has no host";
    if (!promises_room(server)) return "it holds no room in Placement";
    return std::nullopt;
}

}  // namespace reaper

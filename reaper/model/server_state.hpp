// What each of Nova's states means for a server whose room is needed: may it be deleted, what does
// that free, and what is lost with it. One table, for the planner, the fresh read before a deletion
// and the strategies.
//
// Nova takes a DELETE in every state. What is left alone is what would not free its room, or might
// leave room held behind: a server between two hosts. Its owner can bring a server into nearly
// every state, and keep it there; none of those keeps it from going.
#pragma once

#include <span>
#include <string_view>

#include "reaper/model/cloud.hpp"

namespace reaper {

struct ServerState {
    enum class Fate {
        goes,   ///< it may be a victim
        stays,  ///< not now
        going,  ///< it is being deleted already
    };
    enum class Frees {
        its_room,    ///< what it holds on its host
        both_hosts,  ///< that, and what its resize holds where it came from
        nothing,     ///< it holds no room
    };
    std::string_view name;  ///< Nova's status, or task state
    Fate fate{};
    Frees frees{};
    bool loses_work = true;   ///< of a status: does it do anything that is lost with it?
    std::string_view reason;  ///< for people
};

/// By Nova's status, all of them.
std::span<const ServerState> server_statuses();
/// By its task state, all of them; where one `goes`, the status decides.
std::span<const ServerState> server_task_states();

/// What is to be done about this one. A state that is in neither table is left alone.
ServerState state_of(const Server& server);

/// Is work lost with it? Not with one that is stopped, or that never ran.
bool loses_work(const Server& server);

}  // namespace reaper

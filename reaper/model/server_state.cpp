#include "reaper/model/server_state.hpp"

#include <algorithm>
#include <array>

namespace reaper {
namespace {

using Fate = ServerState::Fate;
using Frees = ServerState::Frees;

constexpr std::string_view between_hosts =
    "it is between two hosts: deleted now, it might leave room held behind";

constexpr std::array<ServerState, 19> statuses{{
    {"ACTIVE", Fate::goes, Frees::its_room, true, "it runs"},
    {"BUILD", Fate::goes, Frees::its_room, false, "it never ran: Nova ends its building"},
    {"DELETED", Fate::going, Frees::its_room, false, "it is deleted"},
    {"ERROR", Fate::goes, Frees::its_room, false, "it failed, and holds its room"},
    {"HARD_REBOOT", Fate::goes, Frees::its_room, true, "it is being rebooted"},
    {"MIGRATING", Fate::stays, Frees::its_room, true, between_hosts},
    {"PASSWORD", Fate::goes, Frees::its_room, true, "its password is being changed"},
    {"PAUSED", Fate::goes, Frees::its_room, true, "paused, it holds its room"},
    {"REBOOT", Fate::goes, Frees::its_room, true, "it is being rebooted"},
    {"REBUILD", Fate::goes, Frees::its_room, true, "it is being rebuilt"},
    {"RESCUE", Fate::goes, Frees::its_room, true, "rescued, it holds its room"},
    {"RESIZE", Fate::stays, Frees::its_room, true, between_hosts},
    {"REVERT_RESIZE", Fate::stays, Frees::its_room, true, between_hosts},
    {"SHELVED", Fate::goes, Frees::its_room, false, "shelved, it holds its room"},
    {"SHELVED_OFFLOADED", Fate::stays, Frees::nothing, false, "it is on no host"},
    {"SHUTOFF", Fate::goes, Frees::its_room, false, "stopped, it holds its room"},
    {"SOFT_DELETED", Fate::stays, Frees::its_room, false,
     "it is deleted, and Nova reclaims its room in its time"},
    {"SUSPENDED", Fate::goes, Frees::its_room, true, "suspended, it holds its room"},
    {"VERIFY_RESIZE", Fate::goes, Frees::both_hosts, true, "Nova confirms its resize on the way"},
}};

constexpr ServerState in_progress(std::string_view task) {
    return {task, Fate::goes, Frees::its_room, true, "a deletion ends it"};
}

constexpr ServerState moving(std::string_view task) {
    return {task, Fate::stays, Frees::its_room, true, between_hosts};
}

constexpr ServerState leaving(std::string_view task) {
    return {task, Fate::going, Frees::its_room, true, "it is being deleted"};
}

constexpr std::array<ServerState, 42> task_states{{
    in_progress("block_device_mapping"),
    leaving("deleting"),
    in_progress("image_backup"),
    in_progress("image_pending_upload"),
    in_progress("image_snapshot"),
    in_progress("image_snapshot_pending"),
    in_progress("image_uploading"),
    moving("migrating"),
    in_progress("networking"),
    in_progress("pausing"),
    in_progress("powering-off"),
    in_progress("powering-on"),
    in_progress("reboot_pending"),
    in_progress("reboot_pending_hard"),
    in_progress("reboot_started"),
    in_progress("reboot_started_hard"),
    in_progress("rebooting"),
    in_progress("rebooting_hard"),
    in_progress("rebuild_block_device_mapping"),
    in_progress("rebuild_spawning"),
    in_progress("rebuilding"),
    in_progress("rescuing"),
    moving("resize_confirming"),
    moving("resize_finish"),
    moving("resize_migrated"),
    moving("resize_migrating"),
    moving("resize_prep"),
    moving("resize_reverting"),
    in_progress("restoring"),
    in_progress("resuming"),
    in_progress("scheduling"),
    in_progress("shelving"),
    in_progress("shelving_image_pending_upload"),
    in_progress("shelving_image_uploading"),
    in_progress("shelving_offloading"),
    leaving("soft-deleting"),
    in_progress("spawning"),
    in_progress("suspending"),
    in_progress("unpausing"),
    in_progress("unrescuing"),
    in_progress("unshelving"),
    in_progress("updating_password"),
}};

const ServerState* find_in(std::span<const ServerState> table, std::string_view name) {
    const auto at = std::ranges::find(table, name, &ServerState::name);
    return at == table.end() ? nullptr : &*at;
}

constexpr ServerState unknown{"", Fate::stays, Frees::its_room, true, "its state is unknown"};

}  // namespace

std::span<const ServerState> server_statuses() {
    return statuses;
}

std::span<const ServerState> server_task_states() {
    return task_states;
}

ServerState state_of(const Server& server) {
    const ServerState* const status = find_in(statuses, server.status);
    if (!server.task_state.empty()) {
        const ServerState* const task = find_in(task_states, server.task_state);
        if (task == nullptr) return unknown;
        if (task->fate != Fate::goes) return *task;
    }
    return status == nullptr ? unknown : *status;
}

bool loses_work(const Server& server) {
    const ServerState* const status = find_in(statuses, server.status);
    return status == nullptr || status->loses_work;
}

}  // namespace reaper

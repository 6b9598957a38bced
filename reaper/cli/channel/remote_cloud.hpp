// The cloud as a daemon sees it, read over its API.
#pragma once

#include <optional>
#include <string>

#include "reaper/cli/arguments/arguments.hpp"
#include "reaper/cli/channel/daemon_api.hpp"
#include "reaper/planner/oversubscribed_room.hpp"
#include "reaper/report/snapshot_file.hpp"

namespace reaper::cli {

// Which commands can ask a daemon elsewhere (--api), and what of them.

/// Why the command, as it was given, can't be answered by the daemon that --api names; none if it
/// can, if it asks for nothing but a file or the program itself, or without --api.
std::optional<std::string> why_not_remote(const GlobalOptions& global, const Command& command);

/// Hosts by name, with their servers, and the daemon's ledger. What users wrote on their servers,
/// and operators on aggregates, is not in it, nor which projects carry a tag. None, and told, if it
/// can't be read: `code` is how the command ends then.
std::optional<report::SnapshotFile> cloud_of(DaemonApi& api, const Terminal& terminal,
                                             ExitCode& code);

/// The id of a project that is written by its id or name and may have no servers. None, and told,
/// if the daemon knows of none (`unknown`), or can't tell.
std::optional<std::string> project_by(DaemonApi& api, const std::string& written,
                                      const Terminal& terminal, ExitCode& code);

/// That the daemon's cloud has no such flavor, by its id or name. None: it has it, or that is not
/// known.
std::optional<std::string> why_no_flavor(DaemonApi& api, const std::string& written);

// What the estimator allows on each host, which the daemon alone knows.

/// `said`: the answer to GET /v1/oversubscription. What is not there, or of another kind, is not
/// known.
EstimatedRoom estimated_room_in(const nlohmann::json& said);

/// Nothing, and no message, if no room of `snapshot` can be oversubscribed, or the daemon
/// can't be asked.
EstimatedRoom estimated_room(const Snapshot& snapshot, DaemonApi& api);

/// The same of this machine's daemon; an empty `socket`: there is none.
EstimatedRoom local_estimated_room(const Snapshot& snapshot, const std::string& socket,
                                   const Terminal& terminal);

}  // namespace reaper::cli

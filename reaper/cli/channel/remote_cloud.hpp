// The cloud as a daemon sees it, read over its API.
#pragma once

#include <optional>
#include <string>

#include "reaper/cli/channel/daemon_api.hpp"
#include "reaper/report/snapshot_file.hpp"

namespace reaper::cli {

/// Hosts by name, with their servers, and the daemon's ledger. What users wrote on their servers,
/// and operators on aggregates, is not in it, nor which projects carry a tag. None, and told, if it
/// can't be read: `code` is how the command ends then.
std::optional<report::SnapshotFile> cloud_of(DaemonApi& api, const Terminal& terminal,
                                             ExitCode& code);

/// The id of a project that is written by its id or name and may have no servers. None, and told,
/// if the daemon knows of none (`unknown`), or can't tell.
std::optional<std::string> project_by(DaemonApi& api, const std::string& written,
                                      const Terminal& terminal, ExitCode& code);

/// That the daemon's cloud has no such flavor, by its id or name. None: it has it, or that can't be
/// told.
std::optional<std::string> why_no_flavor(DaemonApi& api, const std::string& written);

}  // namespace reaper::cli

// The cloud as a daemon sees it, read over its API.
#pragma once

#include <optional>

#include "reaper/cli/daemon_api.hpp"
#include "reaper/report/snapshot_file.hpp"

namespace reaper::cli {

/// Hosts by name, with their servers, and the daemon's ledger. What users wrote on their servers,
/// and operators on aggregates, is not in it, nor which projects carry a tag. None, and told, if it
/// can't be read: `code` is how the command ends then.
std::optional<report::SnapshotFile> cloud_of(DaemonApi& api, const Terminal& terminal,
                                             ExitCode& code);

}  // namespace reaper::cli

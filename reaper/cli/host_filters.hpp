// `reaper hosts --host ... --project ...`: a part of a cloud.
#pragma once

#include <optional>
#include <string>

#include "reaper/cli/arguments.hpp"
#include "reaper/model/cloud.hpp"

namespace reaper::cli {

/// What the filters name and the cloud does not have: a host, a zone; none: nothing.
std::optional<std::string> unknown_in(const Snapshot& snapshot, const HostFilters& filters);

/// Hosts of the name and zone that have such a server, by name as people count. `servers`: of each
/// only the servers that are meant.
Snapshot filtered(Snapshot snapshot, const HostFilters& filters, bool servers);

}  // namespace reaper::cli

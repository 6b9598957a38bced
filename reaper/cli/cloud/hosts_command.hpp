// `reaper hosts --host ... --project ...`: a part of a cloud.
#pragma once

#include <string>

#include "reaper/cli/arguments/arguments.hpp"
#include "reaper/model/cloud.hpp"
#include "reaper/model/error.hpp"

namespace reaper::cli {

/// The id of the host that is written as its id or name, whole or shortened (`host_named` tells
/// why there is none). Empty stays empty.
Result<std::string> host_in(const Snapshot& snapshot, const std::string& written);

/// The id of the project that is written as its id or name; `not_found`: neither servers nor names
/// tell of it; `bad_input`: several have the name. Empty stays empty.
Result<std::string> project_in(const Snapshot& snapshot, const std::string& written);

/// Is there a server of the flavor, by its name? True of an empty name.
bool has_flavor(const Snapshot& snapshot, const std::string& name);

/// Hosts of the id and zone that have such a server, by name as people count. `servers`: of each
/// only the servers that are meant.
Snapshot filtered(Snapshot snapshot, const HostFilters& filters, bool servers);

}  // namespace reaper::cli

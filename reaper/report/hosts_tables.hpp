// The lists of `reaper hosts`: hosts with their room, and the servers on them.
#pragma once

#include <nlohmann/json.hpp>

#include "reaper/model/cloud.hpp"
#include "reaper/report/table.hpp"

namespace reaper::report {

/// For each host its label, state, servers, and what is free of each class; wide tables tell
/// capacity, use, and what is free of each kind of room too.
Table hosts_table(const Snapshot& snapshot);

/// The servers of all hosts.
Table servers_table(const Snapshot& snapshot);

/// {version, taken_at, servers: [{host, ... as in the JSON of hosts}], remarks[]}
nlohmann::json servers_json(const Snapshot& snapshot);

}  // namespace reaper::report

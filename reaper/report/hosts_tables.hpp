// The lists of `reaper hosts`: hosts with their room, and the servers on them.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "reaper/model/cloud.hpp"
#include "reaper/planner/oversubscribed_room.hpp"
#include "reaper/report/table.hpp"

namespace reaper::report {

/// For each host its label, state, servers, and what is free of each class; wide tables show
/// capacity, use, and what is free of each kind of room too, and what is wanted of oversubscribed
/// room.
Table hosts_table(const Snapshot& snapshot, const EstimatedRoom& estimated = {});

/// `CUSTOM_REVOCABLE_VCPU: 6 published on 1 host, 4 used, 2 free, 8 wanted`, for each class; what
/// is not known is left out.
std::vector<std::string> oversubscribed_words(const OversubscribedRooms& rooms);

/// The servers of all hosts.
Table servers_table(const Snapshot& snapshot);

/// {version, taken_at, servers: [{host, ... as in the JSON of hosts}], remarks[]}
nlohmann::json servers_json(const Snapshot& snapshot);

}  // namespace reaper::report

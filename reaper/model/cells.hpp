// Nova's cells, as the configuration names them: Nova's API does not report a host's cell.
//
// A server stays in its cell when it is moved (resize, migration, evacuation, unshelving), and
// builds skip a cell that is disabled. Source: nova's conductor (_restrict_request_spec_to_cell,
// MigrationTask) and HostManager.get_host_states_by_uuids.
#pragma once

#include <string>
#include <vector>

namespace reaper {

struct Cell {
    std::string name;
    std::vector<std::string> hosts;  ///< service hosts or hypervisors; `*` and `?` stand for any
    std::vector<std::string> aggregates;  ///< names or UUIDs: their hosts
    bool disabled = false;

    friend bool operator==(const Cell&, const Cell&) = default;
};

}  // namespace reaper

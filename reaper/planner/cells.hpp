// Which cell of Nova's a host is in, and which requests may go to which cell. Pure.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "reaper/model/cloud.hpp"
#include "reaper/model/request.hpp"

namespace reaper {

class CloudIndex;

/// The host of this name of its compute service; null: there is none.
const Host* host_by_service(const std::string& name, const CloudIndex& cloud);

/// Does the request's server have to stay in its cell?
bool stays_in_cell(const Request& request, const SchedulerRules& rules);

/// The cell of the host; or why there is none, as text: no cell has it, or several have.
std::variant<const Cell*, std::string> cell_of(const Host& host, const std::vector<Cell>& cells);

/// The same for the server of a request that stays in its cell. A host that the cloud no longer has
/// is looked for by its name alone. Cells are configured.
std::variant<const Cell*, std::string> cell_of_server(const Request& request,
                                                      const std::vector<Cell>& cells,
                                                      const CloudIndex& cloud);

/// Why it is unknown where the request may go: it stays in its server's cell, and Nova does not say
/// which that is. None if it can be, or does not matter.
std::optional<std::string> why_cell_unknown(const Request& request, const SchedulerRules& rules,
                                            const CloudIndex& cloud);

}  // namespace reaper

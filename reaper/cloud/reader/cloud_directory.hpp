// Asks the cloud for the things that the configuration names.
#pragma once

#include <vector>

#include "reaper/decision/cloud_names.hpp"
#include "reaper/ports/cloud_ports.hpp"

namespace reaper {

/// Asks for no more than the names need. An error if the protected projects could not be read; what
/// else could not be read is noted in the directory.
ResultTask<CloudDirectory> read_directory(CloudPorts cloud, std::vector<CloudName> names);

}  // namespace reaper

// A simulated cloud from a file of `reaper snapshot`.
#pragma once

#include <string>

#include "tests/cloudsim/api/site.hpp"

namespace reaper::cloudsim {

/// Hosts, providers, servers and projects of the file, with their ids. Servers keep their ages: the
/// clock is the simulated cloud's own. Throws std::runtime_error with one line if the text is no
/// snapshot file.
Site::Seeder snapshot_seeder(const std::string& text, const std::string& where);

}  // namespace reaper::cloudsim

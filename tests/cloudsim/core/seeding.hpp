// Makes a cloud out of its settings: hosts, projects, flavors, servers. The same seed gives the
// same cloud, ids included.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tests/cloudsim/core/lifecycle.hpp"

namespace reaper::cloudsim {

/// Fills an empty world. Empty if all is well; else one line that says what can't be.
std::string seed(World& world, Lifecycle& lifecycle);

/// Hosts in cells, by cell; the others are in one without a name. Each cell numbers its hosts
/// from 1. Empty, or one line that says what can't be.
std::string set_cells(World& world, const std::map<std::string, std::vector<std::string>>& cells,
                      const std::vector<std::string>& disabled);

/// Projects, users and roles; flavors and the image. What a cloud from elsewhere needs, too.
std::string seed_identity(World& world);
void seed_catalogue(World& world);

/// The servers alone, by `fill` and `revocable`.
std::string seed_servers(World& world, Lifecycle& lifecycle);

}  // namespace reaper::cloudsim

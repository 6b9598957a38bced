// The services of the simulated cloud. Each answers below its own prefix and writes its errors as
// the real one does.
#pragma once

#include <span>

#include "tests/cloudsim/api/call.hpp"

namespace reaper::cloudsim {

Response keystone(Call& call, std::span<const std::string> path);
Response placement(Call& call, std::span<const std::string> path);
Response nova(Call& call, std::span<const std::string> path);
/// Enough of Glance to name the image, and of Neutron to say that there are no networks.
Response glance(Call& call, std::span<const std::string> path);
Response neutron(Call& call, std::span<const std::string> path);

/// As keystonemiddleware refuses who has no valid token.
Response unauthorized(const Call& call);

}  // namespace reaper::cloudsim

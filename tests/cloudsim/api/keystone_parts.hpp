// Internal to Keystone's files.
#pragma once

#include <span>

#include "tests/cloudsim/api/call.hpp"

namespace reaper::cloudsim {

/// Projects, users, roles, domains: what needs a token.
std::span<const Route> keystone_resources();

}  // namespace reaper::cloudsim

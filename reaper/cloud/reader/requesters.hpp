// How the servers of one request are now: those that wait, and those that no longer do.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "reaper/ports/compute.hpp"

namespace reaper {

/// None: Nova knows it no more.
using Requesters = std::map<ServerId, std::optional<ServerRecord>>;

/// Few are read beside each other; of many, Nova lists those of their request to boot, and only the
/// others are read.
ResultTask<Requesters> read_requesters(Compute& compute, std::vector<ServerId> requesters);

}  // namespace reaper

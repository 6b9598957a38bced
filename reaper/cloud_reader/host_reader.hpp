// Reads one host exactly.
#pragma once

#include <string>
#include <vector>

#include "reaper/cloud_cache/host_reading.hpp"
#include "reaper/cloud_reader/snapshot_reader.hpp"

namespace reaper {

/// How much of it.
enum class HostDepth {
    state,    ///< room of each provider, servers, compute service: before anybody dies
    all,      ///< traits too: in the background
    landing,  ///< and Placement's aggregates: before anybody dies for a request bound to them
};

/// The host as the picture has it. `not_found` if a provider of it is gone.
ResultTask<HostReading> read_host(CloudPorts ports, HostId id, std::string service_host,
                                  std::vector<ProviderId> providers, HostDepth depth);

}  // namespace reaper

// Reads one host exactly.
#pragma once

#include <string>
#include <vector>

#include "reaper/cloud_cache/host_reading.hpp"
#include "reaper/cloud_reader/cloud_reader.hpp"

namespace reaper {

/// How much of it.
enum class HostDepth {
    room,       ///< of each provider, and compute service: the servers are known by events
    state,      ///< room of each provider, servers, compute service: before a deletion
    all,        ///< traits too: in the background
    placement,  ///< and Placement's aggregates: before a deletion for a request bound to them
};

/// The host as the cache has it. `not_found` if a provider of it is gone.
ResultTask<HostReading> read_host(CloudPorts ports, HostId id, std::string service_host,
                                  std::vector<ProviderId> providers, HostDepth depth);

}  // namespace reaper

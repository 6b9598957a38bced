// What one reading of one host brought. Plain data.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "reaper/model/cloud.hpp"
#include "reaper/model/records.hpp"

namespace reaper {

struct HostReading {
    HostId host;
    TimePoint began{};  ///< nothing in it is older
    /// Inventories and allocations of every provider of the tree.
    std::map<ProviderId, ProviderState> states;
    bool with_traits = false;  ///< the states include traits
    /// UUIDs of the aggregates that Placement knows the root in, if that was read.
    std::optional<std::set<std::string>> aggregates;
    /// The service of the host; the inner one is none if Nova lists no such service.
    std::optional<std::optional<ComputeServiceRecord>> service;
    std::optional<std::vector<ServerRecord>> servers;  ///< all that Nova places on the host
    /// Were on the host, and are not in `servers`: Nova, asked for each, knows them no more.
    std::set<ServerId> gone{};
};

}  // namespace reaper

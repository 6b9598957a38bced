// The load of hosts as Nova tells it (`uptime`), where nothing else measures it.
#pragma once

#include <map>
#include <vector>

#include "reaper/cloud_reader/cache_refresher.hpp"
#include "reaper/oversubscription/qos_controller.hpp"

namespace reaper {

/// Of these hosts, each asked for by itself. A host that does not tell, or can't be asked, is not
/// known, and none is since 2025.2: how old that is which Nova tells from then on, it does not say.
/// Stolen time and pressure are never known. An error: the release could not be asked for.
ResultTask<std::map<HostId, HostLoad>> loads_by_nova(CloudPorts cloud,
                                                     const CacheRefresher& refresher,
                                                     std::vector<HostId> hosts);

}  // namespace reaper

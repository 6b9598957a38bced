#include "reaper/controllers/oversubscription/nova_loads.hpp"

#include <algorithm>
#include <utility>

#include "reaper/runtime/async.hpp"

namespace reaper {
namespace {

constexpr std::size_t asked_at_a_time = 8;

Task<void> ask_one(CloudPorts cloud, HostLoad& load) {
    load.measured_at = cloud.clock.now();
    auto averages = co_await cloud.compute.load_averages(load.host);
    if (!averages) {
        load.why_unknown = averages.error().what;
    } else if (!*averages) {
        load.why_unknown = "Nova does not tell its load";
    } else {
        load.load5 = (*averages)->minutes5;
        load.load15 = (*averages)->minutes15;
    }
}

std::optional<double> cores_of(const Host* host) {
    static const ResourceClass vcpu{"VCPU"};
    if (host == nullptr || host->providers.empty()) return std::nullopt;
    const auto at = host->root().inventories.find(vcpu);
    if (at == host->root().inventories.end() || at->second.total <= 0) return std::nullopt;
    return static_cast<double>(at->second.total);
}

}  // namespace

ResultTask<std::map<HostId, HostLoad>> loads_by_nova(CloudPorts cloud,
                                                     const CacheRefresher& refresher,
                                                     std::vector<HostId> hosts) {
    auto release = co_await cloud.compute.release();
    if (!release) co_return release.error();
    std::map<HostId, HostLoad> loads;
    for (const HostId& id : hosts) {
        HostLoad& load = loads[id];
        load.host = id;
        load.cores = cores_of(refresher.cache().find(id));
        if (*release >= NovaRelease::r2025_2)
            load.why_unknown = "since 2025.2 Nova does not say how old the load is that it tells";
    }
    if (*release >= NovaRelease::r2025_2) co_return loads;
    for (std::size_t from = 0; from < hosts.size(); from += asked_at_a_time) {
        std::vector<Task<void>> some;
        for (std::size_t i = from; i < std::min(from + asked_at_a_time, hosts.size()); ++i)
            some.push_back(ask_one(cloud, loads.at(hosts[i])));
        co_await run_all(std::move(some));
    }
    co_return loads;
}

}  // namespace reaper

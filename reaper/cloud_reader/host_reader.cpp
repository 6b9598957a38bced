#include "reaper/cloud_reader/host_reader.hpp"

#include <optional>
#include <utility>

#include "reaper/runtime/async.hpp"

namespace reaper {

ResultTask<HostReading> read_host(CloudPorts ports, HostId id, std::string service_host,
                                  std::vector<ProviderId> providers, HostDepth depth) {
    HostReading reading;
    reading.host = std::move(id);
    reading.began = ports.clock.now();
    reading.with_traits = depth == HostDepth::all || depth == HostDepth::placement;

    std::optional<Result<std::optional<ComputeServiceRecord>>> service;
    std::optional<Result<std::vector<ServerRecord>>> servers;
    std::vector<std::optional<Result<ProviderState>>> states(providers.size());
    std::optional<Result<std::set<std::string>>> aggregates;
    std::vector<Task<void>> parts;
    parts.push_back(keep(ports.compute.compute_service(service_host), service));
    for (std::size_t i = 0; i < providers.size(); ++i) {
        if (reading.with_traits)
            parts.push_back(keep(ports.placement.provider(providers[i]), states[i]));
        else
            parts.push_back(keep(ports.placement.room(providers[i]), states[i]));
    }
    if (depth != HostDepth::room)
        parts.push_back(keep(ports.compute.servers_on(service_host), servers));
    if (depth == HostDepth::placement)
        parts.push_back(keep(ports.placement.aggregates(reading.host), aggregates));
    co_await run_all(std::move(parts));

    if (!*service) co_return service->error();
    reading.service = std::move(**service);
    for (std::size_t i = 0; i < providers.size(); ++i) {
        if (!*states[i]) co_return states[i]->error();
        reading.states.emplace(providers[i], std::move(**states[i]));
    }
    if (servers) {
        if (!*servers) co_return servers->error();
        reading.servers = std::move(**servers);
    }
    if (aggregates) {
        if (!*aggregates) co_return aggregates->error();
        reading.aggregates = std::move(**aggregates);
    }
    co_return reading;
}

}  // namespace reaper

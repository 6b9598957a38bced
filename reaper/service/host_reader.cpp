#include "reaper/service/host_reader.hpp"

#include <optional>
#include <utility>

#include "reaper/executor/async.hpp"

namespace reaper {

ResultTask<HostReading> read_host(CloudPorts ports, HostId id, std::string service_host,
                                  std::vector<ProviderId> providers, HostDepth depth) {
    HostReading reading;
    reading.host = std::move(id);
    reading.began = ports.clock.now();
    reading.with_traits = depth == HostDepth::all;

    std::optional<Result<std::optional<ComputeServiceRecord>>> service;
    std::optional<Result<std::vector<ServerRecord>>> servers;
    std::vector<std::optional<Result<ProviderState>>> states(providers.size());
    std::vector<Task<void>> parts;
    parts.push_back(keep(ports.compute.compute_service(service_host), service));
    for (std::size_t i = 0; i < providers.size(); ++i) {
        if (depth == HostDepth::all)
            parts.push_back(keep(ports.placement.provider(providers[i]), states[i]));
        else
            parts.push_back(keep(ports.placement.room(providers[i]), states[i]));
    }
    parts.push_back(keep(ports.compute.servers_on(service_host), servers));
    co_await run_all(std::move(parts));

    if (!*service) co_return service->error();
    reading.service = std::move(**service);
    for (std::size_t i = 0; i < providers.size(); ++i) {
        if (!*states[i]) co_return states[i]->error();
        reading.states.emplace(providers[i], std::move(**states[i]));
    }
    if (!*servers) co_return servers->error();
    reading.servers = std::move(**servers);
    co_return reading;
}

}  // namespace reaper

#include "reaper/planner/culling.hpp"

#include <algorithm>
#include <variant>

#include "reaper/planner/filter.hpp"

namespace reaper {
namespace {

std::map<ProviderId, std::map<ResourceClass, ClassUse>> uses_of(const Host& host,
                                                                const HostRoom& room,
                                                                const Shape& shape) {
    std::map<ProviderId, std::map<ResourceClass, ClassUse>> all;
    for (const auto& pool : room.pools) {
        const auto provider =
            std::find_if(host.providers.begin(), host.providers.end(),
                         [&](const Provider& each) { return each.id == pool.provider; });
        if (provider == host.providers.end()) continue;
        const ResourceClass& wanted = shape[pool.need].resource_class;
        all[pool.provider][wanted] = ClassUse{provider->used.get(wanted), pool.capacity};
    }
    return all;
}

}  // namespace

std::optional<CullingCandidate> culling_candidate(const Host& host, const Resources& resources,
                                                  const Ledger& ledger,
                                                  const Protection& protection) {
    const Shape shape = shape_of(resources);
    if (shape.empty()) return std::nullopt;
    Request request;
    request.resources = resources;
    const std::map<ServerId, std::string> none_skipped;
    const auto found =
        filter_host(host, FilterInput{request, shape, ledger, none_skipped, &protection});
    const auto* const option = std::get_if<HostOption>(&found);
    if (option == nullptr) return std::nullopt;
    CullingCandidate candidate;
    candidate.host = host.id;
    candidate.host_name = host.name;
    candidate.has_room = option->slots_ready > 0;
    candidate.providers = uses_of(host, option->room, shape);
    for (const auto& victim : option->candidates)
        for (const auto& [provider, held] : victim.server->allocations)
            if (!held.empty()) candidate.preemptible[provider][victim.server->id] = held;
    return candidate;
}

}  // namespace reaper

#include "faults/churn/possible.hpp"

#include <algorithm>
#include <functional>

namespace reaper::faults {

bool is_possible(const cloudsim::World& world, std::vector<std::int64_t> wanted) {
    std::vector<std::int64_t> rooms;
    const auto vcpu = world.names.find("VCPU");
    for (const auto& host : world.nova.hosts) {
        std::int64_t room = host->provider->room(*vcpu)->inventory.capacity();
        for (const cloudsim::Consumer* const consumer : host->provider->consumers) {
            const cloudsim::Server* const server = world.nova.find_server(consumer->uuid);
            if (server == nullptr || world.is_revocable(*server)) continue;
            for (const auto& held : consumer->held)
                if (held.provider == host->provider && held.resource_class == *vcpu)
                    room -= held.amount;
        }
        rooms.push_back(room);
    }
    std::sort(wanted.begin(), wanted.end(), std::greater<>{});
    for (const std::int64_t each : wanted) {
        // The tightest that does.
        auto best = rooms.end();
        for (auto room = rooms.begin(); room != rooms.end(); ++room)
            if (*room >= each && (best == rooms.end() || *room < *best)) best = room;
        if (best == rooms.end()) return false;
        *best -= each;
    }
    return true;
}

}  // namespace reaper::faults

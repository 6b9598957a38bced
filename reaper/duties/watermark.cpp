#include "reaper/duties/watermark.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "reaper/rooms/room.hpp"

namespace reaper {

Usage usage_of(const ResourceClass& resource_class, const std::vector<const Host*>& hosts,
               const Ledger& ledger) {
    Usage usage;
    for (const Host* const host : hosts) {
        if (!takes_servers(*host)) continue;
        for (const Provider& provider : host->providers) {
            usage.used += provider.used.get(resource_class);
            usage.capacity += provider.capacity(resource_class);
        }
        for (const Server& server : host->servers)
            if (ledger.evicting(server.id) || comes_free(server, ledger))
                usage.used -= held_on(server, *host).get(resource_class);
    }
    return usage;
}

Resources excess_of(const std::vector<Mark>& marks, const std::vector<const Host*>& hosts,
                    const Ledger& ledger, std::set<ResourceClass>& over) {
    Resources excess;
    std::set<ResourceClass> still;
    for (const Mark& mark : marks) {
        const Usage usage = usage_of(mark.resource_class, hosts, ledger);
        const int allowed = over.contains(mark.resource_class) ? mark.low : mark.high;
        if (usage.capacity <= 0 || !usage.above(allowed)) continue;
        still.insert(mark.resource_class);
        excess.set(mark.resource_class, usage.used - usage.at(mark.low));
    }
    over = std::move(still);
    return excess;
}

std::vector<WatermarkCandidate> choose_for(const Resources& excess,
                                           std::vector<WatermarkCandidate> candidates) {
    std::ranges::sort(candidates, [](const auto& a, const auto& b) {
        return std::tuple(b.started, a.server) < std::tuple(a.started, b.server);
    });
    std::vector<WatermarkCandidate> chosen;
    Resources left = excess;
    for (WatermarkCandidate& each : candidates) {
        if (common(left, each.held).empty()) continue;
        left = more_than(left, each.held);
        chosen.push_back(std::move(each));
        if (left.empty()) break;
    }
    // Later ones may do for what earlier ones were chosen for: the oldest of these stay.
    Resources freed;
    for (const auto& each : chosen) freed += each.held;
    const Resources enough = common(freed, excess);
    for (std::size_t i = chosen.size(); i-- > 0;) {
        const Resources without = freed - chosen[i].held;
        if (!enough.fits_in(without)) continue;
        freed = without;
        chosen.erase(chosen.begin() + static_cast<std::ptrdiff_t>(i));
    }
    return chosen;
}

}  // namespace reaper

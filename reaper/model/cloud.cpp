#include "reaper/model/cloud.hpp"

#include <cmath>
#include <limits>

namespace reaper {

Amount Inventory::capacity() const {
    // Placement computes int((total - reserved) * ratio) in double precision: do the same.
    const double exact = static_cast<double>(total - reserved) * allocation_ratio;
    if (!(exact > 0)) return 0;
    if (exact >= static_cast<double>(std::numeric_limits<Amount>::max()))
        return std::numeric_limits<Amount>::max();
    return static_cast<Amount>(std::floor(exact));
}

Resources Server::resources() const {
    Resources sum;
    for (const auto& [provider, held] : allocations) sum += held;
    return sum;
}

Resources sum_of(const Allocations& allocations) {
    Resources sum;
    for (const auto& each : allocations) sum += each.second;
    return sum;
}

Resources held_on(const Server& server, const Host& host) {
    Resources held;
    for (const auto& provider : host.providers)
        if (const auto at = server.allocations.find(provider.id); at != server.allocations.end())
            held += at->second;
    return held;
}

}  // namespace reaper

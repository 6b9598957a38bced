#include "reaper/controllers/oversubscription/busy_hosts.hpp"

#include <chrono>

namespace reaper {
namespace {

constexpr Duration calm_for = std::chrono::minutes{1};

}  // namespace

BusyHosts::Seen BusyHosts::look(const HostId& host, std::optional<bool> too_busy, TimePoint now) {
    const auto at = hosts_.find(host);
    if (!too_busy) return {};
    if (*too_busy) {
        if (at == hosts_.end()) {
            hosts_.emplace(host, Busy{now});
            return {Change::too_busy, {}};
        }
        at->second.calm_since.reset();
        return {};
    }
    if (at == hosts_.end()) return {};
    Busy& busy = at->second;
    if (!busy.calm_since) busy.calm_since = now;
    if (now - *busy.calm_since < calm_for) return {};
    const Seen calm{Change::calm,
                    std::chrono::duration_cast<Duration>(*busy.calm_since - busy.since)};
    hosts_.erase(at);
    return calm;
}

void BusyHosts::shift(Duration by) {
    for (auto& [host, busy] : hosts_) {
        busy.since += by;
        if (busy.calm_since) *busy.calm_since += by;
    }
}

}  // namespace reaper

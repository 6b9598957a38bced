// What resizes left behind on the hosts that servers came from, until they are confirmed: held in
// Placement by consumers that Nova's list of migrations names.
#include <algorithm>
#include <map>
#include <utility>

#include "reaper/cloud_cache/cloud_cache.hpp"

namespace reaper {
namespace {

bool waits(const Server& server) {
    return server.status == "VERIFY_RESIZE" && !server.being_deleted();
}

Allocations held_by(const ServerId& consumer, const Host& host) {
    Allocations held;
    for (const auto& provider : host.providers)
        if (const auto at = provider.other_consumers.find(consumer);
            at != provider.other_consumers.end() && !at->second.empty())
            held.emplace(provider.id, at->second);
    return held;
}

}  // namespace

bool CloudCache::has_unconfirmed() const {
    return std::any_of(hosts_.begin(), hosts_.end(), [](const auto& each) {
        const auto& servers = each.second.host->servers;
        return std::any_of(servers.begin(), servers.end(), [](const Server& server) {
            return server.revocable() && waits(server);
        });
    });
}

void CloudCache::set_resizes(std::vector<UnconfirmedResize> resizes) {
    std::sort(resizes.begin(), resizes.end(), [](const auto& a, const auto& b) {
        return std::pair(a.server, a.holder) < std::pair(b.server, b.holder);
    });
    resizes_ = std::move(resizes);
}

bool CloudCache::link_resizes() {
    if (resizes_.empty() && left_behind_on_.empty()) return false;
    std::map<HostId, std::vector<Server>> wanted;
    for (const HostId& host : left_behind_on_) wanted.try_emplace(host);
    for (const auto& resize : resizes_) {
        const Server* const server = find(resize.server);
        if (server == nullptr || !waits(*server)) continue;
        const auto [first, last] = by_service_.equal_range(resize.source_host);
        for (auto at = first; at != last; ++at) {
            const Host* const source = find(at->second);
            if (source == nullptr) continue;
            Server left = *server;
            left.allocations = held_by(resize.holder, *source);
            if (left.allocations.empty()) continue;
            left.host = source->service_host;
            left.held_by = resize.holder;
            wanted[source->id].push_back(std::move(left));
        }
    }
    bool news = false;
    for (auto& [id, left] : wanted) {
        const auto at = hosts_.find(id);
        if (at == hosts_.end() || left.empty()) left_behind_on_.erase(id);
        if (at == hosts_.end()) continue;
        if (!left.empty()) left_behind_on_.insert(id);
        Host& host = *at->second.host;
        if (host.left_behind == left) continue;
        host.left_behind = std::move(left);
        index_.put(host);
        news = true;
    }
    return news;
}

}  // namespace reaper

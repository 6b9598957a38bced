#include "reaper/requests/staying_servers.hpp"

#include <algorithm>
#include <set>

namespace reaper {

StayingServers::StayingServers(const Plan& plan, const Resources& slot, const FindHost& find_host,
                               const Ledger& ledger) {
    std::set<ServerId> victims;
    for (const Victim& victim : plan.victims()) victims.insert(victim.server);
    for (const HostPlan& planned : plan.hosts) {
        const Host* const host = find_host(planned.host);
        if (host == nullptr || planned.victims.empty()) continue;
        OnHost on{planned.host, planned.host_name, {}, {}};
        const Resources& one = planned.slot.empty() ? slot : planned.slot;
        for (const Victim& victim : planned.victims) {
            Resources lacks;
            for (const auto& [name, amount] : one)
                lacks.set(name, amount * planned.slots + victim.resources.get(name) -
                                    planned.free_after.get(name));
            on.lacks.push_back(std::move(lacks));
        }
        for (const Server& server : host->servers)
            if (!server.being_deleted() && !victims.contains(server.id) &&
                !ledger.evicting(server.id))
                on.stay.emplace(server.id, held_on(server, *host));
        hosts_.push_back(std::move(on));
    }
}

std::optional<std::string> StayingServers::why_outdated(const FindHost& find_host,
                                                        const Ledger& ledger) const {
    for (const OnHost& on : hosts_) {
        const Host* const host = find_host(on.host);
        if (host == nullptr) continue;
        auto left = on.stay;
        for (const Server& server : host->servers)
            if (!server.being_deleted()) left.erase(server.id);
        std::erase_if(left, [&](const auto& each) { return ledger.evicting(each.first); });
        Resources came;
        for (const auto& each : left) came += each.second;
        const bool enough = std::any_of(
            on.lacks.begin(), on.lacks.end(),
            [&](const Resources& lacks) { return !left.empty() && lacks.fits_in(came); });
        if (enough)
            return "server " + left.begin()->first.str() + " leaves " + on.name +
                   " by itself, and a victim there may stay";
    }
    return std::nullopt;
}

}  // namespace reaper

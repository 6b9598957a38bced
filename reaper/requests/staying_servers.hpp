// Servers of others that leave the hosts of a plan by themselves before its victims do. Pure.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "reaper/model/cloud.hpp"
#include "reaper/model/plan.hpp"
#include "reaper/rooms/ledger.hpp"

namespace reaper {

/// Of one plan: who was to stay on its hosts.
class StayingServers {
public:
    using FindHost = std::function<const Host*(const HostId&)>;

    StayingServers() = default;
    /// `slot`: what one slot takes where the plan's host does not say.
    StayingServers(const Plan& plan, const Resources& slot, const FindHost& find_host,
                   const Ledger& ledger);

    /// Why the plan is to be made anew: a victim could stay, since somebody who was to stay has
    /// left the host or is being deleted, by nobody's plan. Amounts are summed over providers, so
    /// it may be told where the same plan comes out again. O(servers on the hosts).
    std::optional<std::string> why_outdated(const FindHost& find_host, const Ledger& ledger) const;

private:
    struct OnHost {
        HostId host;
        std::string name;
        std::vector<Resources> lacks;  ///< for each victim: what the host would lack if it stayed
        std::map<ServerId, Resources> stay;
    };

    std::vector<OnHost> hosts_;
};

}  // namespace reaper

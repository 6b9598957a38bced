// Warns of hosts and aggregates that the settings of oversubscription name in vain
// (reaper/oversubscription/named_hosts.hpp).
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "reaper/decision/oversubscription_policy.hpp"
#include "reaper/model/cloud.hpp"

namespace reaper {

class IdleNamesLog {
public:
    /// Each is told once, until it is right in between. Nothing is looked up while the settings and
    /// the number of hosts are the same.
    void look(const std::shared_ptr<const OversubscriptionPolicy>& policy,
              const std::vector<const Host*>& hosts);

private:
    std::shared_ptr<const OversubscriptionPolicy> policy_;
    std::size_t hosts_ = 0;
    std::set<std::string> told_;
};

}  // namespace reaper

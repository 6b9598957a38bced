#include "reaper/controllers/oversubscription/idle_names_log.hpp"

#include <spdlog/spdlog.h>
#include <utility>

#include "reaper/oversubscription/host_facts.hpp"
#include "reaper/oversubscription/named_hosts.hpp"

namespace reaper {

void IdleNamesLog::look(const std::shared_ptr<const OversubscriptionPolicy>& policy,
                        const std::vector<const Host*>& hosts) {
    if (policy_ == policy && hosts_ == hosts.size()) return;
    policy_ = policy;
    hosts_ = hosts.size();
    std::vector<HostFacts> facts;
    facts.reserve(hosts.size());
    for (const Host* const host : hosts) facts.push_back(facts_of(*host));
    const auto& configured = policy->configured;
    std::set<std::string> all;
    for (const auto& name :
         idle_names(configured.hosts, configured.aggregates, *policy->estimator, facts)) {
        std::string line = name.key + ": " + name.detail;
        if (!told_.contains(line)) spdlog::warn("{}", line);
        all.insert(std::move(line));
    }
    told_ = std::move(all);
}

}  // namespace reaper

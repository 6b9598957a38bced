#include "reaper/safeguards/host_cooldowns.hpp"

#include <algorithm>

#include "reaper/model/text.hpp"
#include "reaper/model/time_text.hpp"

namespace reaper {

void HostCooldowns::note(const HostId& host, const RequestId& request, TimePoint at) {
    Cooldown& host_cooldown = cooldowns_[host];
    if (host_cooldown.at <= at) host_cooldown = Cooldown{request, at};
}

void HostCooldowns::prune(TimePoint now, Duration lasting) {
    std::erase_if(cooldowns_, [&](const auto& each) { return each.second.at <= now - lasting; });
    for (auto& [host, host_cooldown] : cooldowns_)
        host_cooldown.at = std::min(host_cooldown.at, now);
}

void HostCooldowns::shift(Duration by) {
    for (auto& [host, host_cooldown] : cooldowns_) host_cooldown.at += by;
}

std::map<HostId, std::string> HostCooldowns::reasons() const {
    std::map<HostId, std::string> reasons;
    for (const auto& [host, host_cooldown] : cooldowns_)
        reasons.emplace(host, "room freed there for " + printable(host_cooldown.request.str(), 64) +
                                  " was not taken by " + iso_time(host_cooldown.at));
    return reasons;
}

}  // namespace reaper

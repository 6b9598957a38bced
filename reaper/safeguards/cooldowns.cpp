#include "reaper/safeguards/cooldowns.hpp"

#include <algorithm>

#include "reaper/model/text.hpp"

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

void CellCooldowns::note_wasted(const std::string& from_host, const RequestId& request,
                                TimePoint at) {
    Wasted& wasted = wasted_[from_host];
    if (wasted.at <= at) wasted = Wasted{request, at};
}

std::optional<std::string> CellCooldowns::why(const std::string& from_host,
                                              bool several_cells) const {
    auto at = wasted_.find(from_host);
    if (at == wasted_.end() && several_cells) at = wasted_.begin();
    if (at == wasted_.end()) return std::nullopt;
    const auto& [host, wasted] = *at;
    return "room freed for a move from " + (host.empty() ? "an unknown host" : in_quotes(host)) +
           " (" + printable(wasted.request.str(), 64) + ") was not taken by " +
           iso_time(wasted.at) +
           ": it may have been in another cell, where a moved server can't go. " +
           (several_cells ? "Nova has several cells, and" : "If Nova has several cells,") +
           " scheduler.cells has to say which host is in which";
}

void CellCooldowns::prune(TimePoint now, Duration host_cooldown) {
    const Duration lasting = std::max(host_cooldown, least);
    std::erase_if(wasted_, [&](const auto& each) { return each.second.at <= now - lasting; });
    for (auto& [host, wasted] : wasted_) wasted.at = std::min(wasted.at, now);
}

void CellCooldowns::shift(Duration by) {
    for (auto& [host, wasted] : wasted_) wasted.at += by;
}

}  // namespace reaper

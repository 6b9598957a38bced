#include "reaper/safeguards/host_cooldowns.hpp"

#include <algorithm>

#include "reaper/model/duration_text.hpp"
#include "reaper/model/text.hpp"

namespace reaper {

void HostDoubts::note(const HostId& host, const RequestId& request, TimePoint at) {
    Doubt& doubt = doubts_[host];
    if (doubt.at <= at) doubt = Doubt{request, at};
}

void HostDoubts::prune(TimePoint now, Duration lasting) {
    std::erase_if(doubts_, [&](const auto& each) { return each.second.at <= now - lasting; });
    for (auto& [host, doubt] : doubts_) doubt.at = std::min(doubt.at, now);
}

void HostDoubts::shift(Duration by) {
    for (auto& [host, doubt] : doubts_) doubt.at += by;
}

std::map<HostId, std::string> HostDoubts::reasons() const {
    std::map<HostId, std::string> reasons;
    for (const auto& [host, doubt] : doubts_)
        reasons.emplace(host, "room freed there for " + printable(doubt.request.str(), 64) +
                                  " was not taken by " + words_of(doubt.at));
    return reasons;
}

}  // namespace reaper

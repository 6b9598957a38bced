#include "reaper/cloud_cache/event_memory.hpp"

#include <chrono>

namespace reaper {
namespace {

/// Far longer than any event is late.
constexpr Duration retention = std::chrono::duration_cast<Duration>(std::chrono::minutes{15});

}  // namespace

bool EventMemory::remember(const ServerId& server, TimePoint sent, TimePoint arrived, bool gone) {
    const auto [at, is_new] = told_.try_emplace(server, Told{sent, arrived, gone});
    if (is_new) return true;
    Told& last = at->second;
    if (last.gone || (!gone && sent < last.sent)) return false;
    last = Told{sent, arrived, gone};
    return true;
}

bool EventMemory::heard_since(const ServerId& server, TimePoint began) const {
    const auto at = told_.find(server);
    return at != told_.end() && at->second.arrived >= began;
}

bool EventMemory::is_gone(const ServerId& server) const {
    const auto at = told_.find(server);
    return at != told_.end() && at->second.gone;
}

void EventMemory::forget_before(TimePoint began) {
    std::erase_if(told_, [&](const auto& t) { return !t.second.gone && t.second.arrived < began; });
}

bool EventMemory::forget_old(TimePoint now) {
    if (now - forgot_at_ < retention / 2) return false;
    forgot_at_ = now;
    std::erase_if(told_, [&](const auto& t) { return now - t.second.arrived > retention; });
    return true;
}

void EventMemory::shift(Duration by) {
    for (auto& [server, told] : told_) told.arrived += by;
    forgot_at_ += by;
}

}  // namespace reaper

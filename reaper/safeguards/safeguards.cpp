#include "reaper/safeguards/safeguards.hpp"

#include <algorithm>
#include <utility>

namespace reaper {
namespace {

/// A request may take more than one round, and be resumed after a restart.
constexpr Duration least_memory = std::chrono::hours{24};

}  // namespace

Safeguards::Safeguards(SafeguardSettings settings) {
    reload(std::move(settings));
}

void Safeguards::reload(SafeguardSettings settings) {
    settings_ = std::move(settings);
    protection_ = Protection{settings_.protect};
    breaker_.reload(settings_.breaker);
}

void Safeguards::note_victim(PastVictim victim) {
    history_.note(std::move(victim));
}

void Safeguards::note_refused_deletion(const ServerId& server) {
    history_.forget(server);
}

std::optional<std::string> Safeguards::note_freed_room(const RequestId& request, CullWorth worth,
                                                       const std::vector<HostId>& untaken,
                                                       TimePoint at) {
    note_cooldown(request, untaken, at);
    return breaker_.note_freed_room(request, worth);
}

void Safeguards::note_cooldown(const RequestId& request, const std::vector<HostId>& hosts,
                               TimePoint at) {
    if (settings_.host_cooldown <= Duration::zero()) return;
    for (const auto& host : hosts) cooldowns_.note(host, request, at);
}

void Safeguards::shift(Duration by) {
    history_.shift(by);
    cooldowns_.shift(by);
}

Duration Safeguards::memory() const {
    return std::max<Duration>(
        {least_memory, settings_.limits.window, settings_.thrash.window, settings_.host_cooldown});
}

void Safeguards::prune(TimePoint now) {
    history_.prune(now, memory());
    cooldowns_.prune(now, settings_.host_cooldown);
}

std::vector<Thrashing> Safeguards::thrashing(TimePoint now) const {
    const auto& settings = settings_.thrash;
    std::vector<Thrashing> often;
    if (settings.after <= 0 || history_.empty()) return often;
    for (auto& [workload, evictions] :
         history_.evictions_since(now - settings.window, settings.after))
        often.push_back({workload, evictions, grace_for(settings, evictions)});
    return often;
}

}  // namespace reaper

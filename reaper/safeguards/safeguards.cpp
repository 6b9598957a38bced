#include "reaper/safeguards/safeguards.hpp"

#include <algorithm>
#include <utility>

namespace reaper {
namespace {

/// A request may take more than one round, and be resumed after a restart.
constexpr Duration least_memory = std::chrono::hours{24};

}  // namespace

Brakes::Brakes(BrakeSettings settings) {
    reload(std::move(settings));
}

void Brakes::reload(BrakeSettings settings) {
    settings_ = std::move(settings);
    protection_ = Protection{settings_.protect};
    breaker_.reload(settings_.breaker);
}

void Brakes::note_victim(PastVictim victim) {
    history_.note(std::move(victim));
}

void Brakes::note_refused_deletion(const ServerId& server) {
    history_.forget(server);
}

std::optional<std::string> Brakes::note_aftermath(const RequestId& request, CullWorth worth,
                                                  const std::vector<HostId>& untaken,
                                                  TimePoint at) {
    note_doubt(request, untaken, at);
    return breaker_.note_aftermath(request, worth);
}

void Brakes::note_doubt(const RequestId& request, const std::vector<HostId>& hosts, TimePoint at) {
    if (settings_.doubt <= Duration::zero()) return;
    for (const auto& host : hosts) doubts_.note(host, request, at);
}

void Brakes::shift(Duration by) {
    history_.shift(by);
    doubts_.shift(by);
}

Duration Brakes::memory() const {
    return std::max<Duration>(
        {least_memory, settings_.limits.window, settings_.thrash.window, settings_.doubt});
}

void Brakes::prune(TimePoint now) {
    history_.prune(now, memory());
    doubts_.prune(now, settings_.doubt);
}

std::vector<Thrashing> Brakes::thrashing(TimePoint now) const {
    const auto& settings = settings_.thrash;
    std::vector<Thrashing> often;
    if (settings.after <= 0 || history_.empty()) return often;
    for (auto& [workload, evictions] :
         history_.evictions_since(now - settings.window, settings.after))
        often.push_back({workload, evictions, grace_for(settings, evictions)});
    return often;
}

}  // namespace reaper

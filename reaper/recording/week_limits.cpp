#include "reaper/recording/week_limits.hpp"

#include <algorithm>

#include "reaper/safeguards/safeguards.hpp"

namespace reaper::recording {
namespace {

/// Those that went within the window before a request.
struct Before {
    int all = 0;
    int of_project = 0;
};

Before before(const std::vector<PlannedHarm>& passed, const PlannedHarm& next, Duration window) {
    Before sum;
    for (const PlannedHarm& each : passed) {
        if (each.at <= next.at - window) continue;
        sum.all += each.victims;
        if (each.request->project == next.request->project) sum.of_project += each.victims;
    }
    return sum;
}

int share(const LimitSettings& limits, int percent, int revocable) {
    return std::max(static_cast<int>(static_cast<long>(revocable) * percent / 100),
                    limits.share_least);
}

/// The safeguard that stops it; empty: none does.
std::string_view why_stopped(const LimitSettings& limits, const PlannedHarm& next,
                             const Before& sum, int revocable) {
    const Request& request = *next.request;
    const int all = revocable + sum.all;
    const bool waits = is_awaited(request.source);
    const bool too_many =
        limits.victims_per_request > 0 && next.victims > limits.victims_per_request;
    const bool too_large = waits && limits.share_per_request > 0 &&
                           next.victims > share(limits, limits.share_per_request, all);
    if (!request.approved && (too_many || too_large)) return safeguard::limit_request;
    const bool of_a_user = waits && !request.approved && request.source != RequestSource::operator_;
    if (of_a_user && limits.share_per_requester > 0 &&
        sum.of_project + next.victims > share(limits, limits.share_per_requester, all))
        return safeguard::limit_requester;
    if (limits.victims_per_window > 0 && sum.all + next.victims > limits.victims_per_window)
        return safeguard::limit_window;
    return {};
}

}  // namespace

StoppedByLimits stopped_by(const LimitSettings& limits, const std::vector<PlannedHarm>& planned,
                           int revocable) {
    StoppedByLimits stopped;
    stopped.revocable = revocable;
    std::vector<PlannedHarm> passed;
    for (const PlannedHarm& next : planned) {
        if (next.victims == 0) continue;
        stopped.largest = std::max(stopped.largest, next.victims);
        const auto why = why_stopped(limits, next, before(passed, next, limits.window), revocable);
        if (why.empty()) {
            passed.push_back(next);
            continue;
        }
        ++stopped.requests[std::string{why}];
        stopped.victims += next.victims;
    }
    return stopped;
}

}  // namespace reaper::recording

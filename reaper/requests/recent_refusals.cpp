#include "reaper/requests/recent_refusals.hpp"

#include <algorithm>
#include <utility>

#include "reaper/model/likeness.hpp"
#include "reaper/model/text.hpp"

namespace reaper {
namespace {

/// Would what was too much for `known` be too much for `request` too?
bool asks_as_much(const Request& request, const Request& known) {
    // A person's word passes some limits.
    return request.approved == known.approved && request.slots >= known.slots &&
           same_demands(request, known) && request.placement == known.placement &&
           request.phases == known.phases;
}

}  // namespace

void RecentRefusals::note(const Request& request, const NotEnough& answer, Policy policy,
                          Duration now) {
    Refusal refusal{request, answer, std::move(policy), now};
    refusal.answer.rejected.clear();
    refusal.answer.reason += " (decided for " + printable(request.id.str(), 64) +
                             " just before; the same answer holds for this)";
    refusals_.push_front(std::move(refusal));
    if (refusals_.size() > most) refusals_.pop_back();
}

std::optional<NotEnough> RecentRefusals::find(const Request& request, const Policy& policy,
                                              Duration now) const {
    for (const auto& known : refusals_) {
        if (now - known.at >= fresh_for) break;
        if (known.policy != policy || !asks_as_much(request, known.request)) continue;
        NotEnough answer = known.answer;
        answer.slots_requested = request.slots;
        return answer;
    }
    return std::nullopt;
}

}  // namespace reaper

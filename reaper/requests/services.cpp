#include "reaper/requests/services.hpp"

#include <algorithm>

#include "reaper/model/likeness.hpp"
#include "reaper/model/text.hpp"
#include "reaper/planner/planner.hpp"

namespace reaper {

void NewestRequests::note(const Request& request) {
    for (const auto& server : request.requesters) {
        const auto [at, added] = known_.try_emplace(server, Known{request.id, request.sent_at});
        if (!added) {
            if (request.sent_at > at->second.sent_at) at->second = {request.id, request.sent_at};
            continue;
        }
        order_.push_back(server);
        if (order_.size() <= max_) continue;
        known_.erase(order_.front());
        order_.pop_front();
    }
}

void NewestRequests::claim(const Request& request) {
    for (const auto& server : request.requesters) claims_[server][request.id] = request.sent_at;
}

void NewestRequests::drop_claim(const Request& request) {
    for (const auto& server : request.requesters) {
        const auto at = claims_.find(server);
        if (at == claims_.end()) continue;
        at->second.erase(request.id);
        if (at->second.empty()) claims_.erase(at);
    }
}

std::optional<RequestId> NewestRequests::newer(const Request& request, bool with_claims) const {
    std::optional<RequestId> found;
    for (const auto& requester : request.requesters) {
        std::optional<RequestId> of_this;
        const auto known = known_.find(requester);
        if (known != known_.end() && known->second.request != request.id &&
            known->second.sent_at > request.sent_at)
            of_this = known->second.request;
        const auto claims = with_claims && !of_this ? claims_.find(requester) : claims_.end();
        if (claims != claims_.end())
            for (const auto& [id, sent_at] : claims->second)
                if (id != request.id && sent_at > request.sent_at) of_this = id;
        if (!of_this) return std::nullopt;
        found = std::move(of_this);
    }
    return found;
}

std::optional<RequestId> NewestRequests::superseding(const Request& request) const {
    return newer(request, false);
}

bool NewestRequests::may_be_superseded(const Request& request) const {
    return newer(request, true).has_value();
}

namespace {

/// Would what was too much for `known` be too much for `request` too?
bool asks_as_much(const Request& request, const Request& known) {
    // A person's word passes some limits.
    return request.approved == known.approved && request.source == known.source &&
           request.slots >= known.slots && same_demands(request, known) &&
           request.placement == known.placement && request.phases == known.phases;
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

std::optional<std::string> RequestLeases::why_not_held() const {
    std::string why = "its source is asked again";  // a former process left it
    for (const auto& lease : all_) {
        if (!lease) continue;
        if (lease->held()) return std::nullopt;
        why = lease->why_not();
    }
    return why;
}

bool RequestLeases::given_up() const {
    return !all_.empty() &&
           std::ranges::all_of(all_, [](const auto& lease) { return lease && lease->given_up(); });
}

namespace {

/// Hosts that are searched for all shapes in one call.
constexpr std::size_t warm_hosts = 200;

}  // namespace

void PlannerWarmer::expect(const Request& request) {
    cold_ = true;
    std::erase_if(expected_, [&](const Request& other) {
        return other.resources == request.resources && other.groups == request.groups;
    });
    expected_.push_front(request);
    if (expected_.size() > max_expected) expected_.pop_back();
}

void PlannerWarmer::warm_up(const CacheRefresher& refresher, const Ledger& ledger,
                            const CompiledPolicy& policy, TimePoint now) {
    if (!refresher.built() || !refresher.flowing()) return;
    if (!std::exchange(seen_, true))
        for (auto& shape : refresher.cache().common_shapes(max_expected)) {
            Request likely;
            likely.resources = std::move(shape);
            expected_.push_back(std::move(likely));
        }
    if (std::exchange(changes_, refresher.changes()) != refresher.changes()) cold_ = true;
    if (!cold_) return;
    PlanOptions options;
    options.alternatives = policy.alternatives;
    options.now = now;
    if (!policy.notice.none()) options.notice = &policy.notice;
    std::size_t left = warm_hosts;
    for (const Request& request : expected_) {
        if (left == 0) break;
        options.seed = seed_of(request.id);
        left -= std::min(left, reaper::warm_up(request, refresher.cache().index(), ledger,
                                               *policy.strategy, options, left));
    }
    cold_ = left < warm_hosts;
}

}  // namespace reaper

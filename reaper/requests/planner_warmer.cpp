#include "reaper/requests/planner_warmer.hpp"

#include <algorithm>
#include <utility>

#include "reaper/planner/planner.hpp"

namespace reaper {
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

void PlannerWarmer::warm_up(const CacheRefresher& refresher, const CompiledPolicy& policy,
                            TimePoint now) {
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
    const Ledger nothing;
    std::size_t left = warm_hosts;
    for (const Request& request : expected_) {
        if (left == 0) break;
        options.seed = seed_of(request.id);
        left -= std::min(left, reaper::warm_up(request, refresher.cache().index(), nothing,
                                               *policy.strategy, options, left));
    }
    cold_ = left < warm_hosts;
}

}  // namespace reaper

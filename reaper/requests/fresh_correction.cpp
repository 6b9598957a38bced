// The decision of a correction: it rests on one host, and looks for no room.
#include <utility>

#include "reaper/decision/decide.hpp"
#include "reaper/requests/fresh_decision.hpp"

namespace reaper {
namespace {

/// Of the host, before it is given up that a bulk reading takes the place of each.
constexpr int max_readings = 8;

}  // namespace

ResultTask<Decision> FreshDecision::decide_correction(std::shared_ptr<const CompiledPolicy> policy,
                                                      Request request,
                                                      std::map<ServerId, std::string> skipped) {
    auto usable = co_await refresher_.ensure_usable(refresher_.builds_begun());
    if (!usable) co_return usable.error();
    const bool by_aggregate =
        policy->safeguards.limits.victims_per_aggregate > 0 || policy->protection.by_aggregates();
    std::set<ServerId> lock_asked;
    for (int readings = 0; readings < max_readings; ++readings) {
        const std::uint64_t build = refresher_.build();
        auto tag_data = co_await refresher_.refresh_tag_data(policy);
        if (!tag_data) co_return tag_data.error();
        if (by_aggregate) {
            auto aggregates = co_await refresher_.refresh_aggregates();
            if (!aggregates) co_return aggregates.error();
        }
        std::vector<HostId> ids{request.correction->host};
        auto read = co_await refresher_.read_hosts(std::move(ids), HostDepth::state);
        if (!read) co_return read.error();
        if (build != refresher_.build()) continue;
        const CloudCache& cache = refresher_.cache();
        const TimePoint now = clock_.now();
        rooms_.observe([&cache](const HostId& id) { return cache.find(id); },
                       cache.index().changes(), now);
        Decision decision = reaper::decide(*policy, request, cache.index(), cache.tag_data(),
                                           rooms_.ledger(), now, safeguards_, skipped);
        const auto locked = co_await skip_locked(decision, lock_asked, skipped);
        if (!locked) co_return locked.error();
        if (!*locked) co_return decision;
    }
    co_return Error{Errc::conflict, "the cloud is being read again all the time"};
}

}  // namespace reaper

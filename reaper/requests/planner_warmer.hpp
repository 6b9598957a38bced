// Lets the planner search in advance for likely requests, while there are none.
#pragma once

#include <cstdint>
#include <deque>

#include "reaper/cloud_reader/cache_refresher.hpp"
#include "reaper/decision/policy.hpp"
#include "reaper/model/request.hpp"

namespace reaper {

class PlannerWarmer {
public:
    /// Between two calls of `warm_up`.
    static constexpr Duration step{500};

    /// A shape that was requested once is likely to be requested again.
    void expect(const Request& request);
    /// Some milliseconds of work, until nothing is left to search; again when the cache has
    /// changed.
    void warm_up(const CacheRefresher& refresher, const CompiledPolicy& policy, TimePoint now);

private:
    /// Shapes of requests that are searched for in advance.
    static constexpr std::size_t max_expected = 8;

    std::deque<Request> expected_;  ///< the latest first
    bool seen_ = false;             ///< the cloud's common shapes are among them
    bool cold_ = false;             ///< something changed since nothing was left to search
    std::uint64_t changes_ = 0;     ///< of the cache, as of the last call
};

}  // namespace reaper

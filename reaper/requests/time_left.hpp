// How long a request may still be served.
#pragma once

#include <algorithm>
#include <chrono>

#include "reaper/model/request.hpp"
#include "reaper/runtime/clock.hpp"

namespace reaper {

/// Begins when it is made. The clock must outlive it.
class TimeLeft {
public:
    TimeLeft(const Request& request, const Clock& clock)
        : clock_(clock),
          deadline_(request.deadline),
          ends_at_(clock.steady() + left_of(request, clock.now())) {}

    /// A wall clock that is set back gives no request more time.
    bool over(Duration more = {}) const {
        return clock_.now() > deadline_ + more || clock_.steady() > ends_at_ + more;
    }

private:
    /// Not more than it had when it was sent, as the wall clock may have been set back since.
    static Duration left_of(const Request& request, TimePoint now) {
        constexpr TimePoint::duration longest = std::chrono::hours{24 * 365};
        const auto left = std::min(request.deadline - now, request.deadline - request.sent_at);
        return std::chrono::ceil<Duration>(std::min(left, longest));
    }

    const Clock& clock_;
    TimePoint deadline_;
    Duration ends_at_;  ///< the same by the steady clock
};

}  // namespace reaper

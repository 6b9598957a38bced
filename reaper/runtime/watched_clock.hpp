// The service's time: the wall clock's, which may be set forward or back under it. A step counts
// from the time at which it is noticed, and all that is remembered moves with it then: until that
// point, time goes on as before, so that no promise lapses and nothing gets younger by a step.
#pragma once

#include <optional>
#include <utility>

#include "reaper/runtime/clock.hpp"

namespace reaper {

/// `clock` must outlive it.
class WatchedClock final : public Clock {
public:
    /// What an operator or NTP does not do by slewing.
    static constexpr Duration least{2000};

    explicit WatchedClock(Clock& clock) : clock_(clock), offset_(offset()) {}

    TimePoint now() const override { return TimePoint{clock_.steady() + offset_}; }
    TimePoint shown() const override { return clock_.now(); }
    Duration steady() const override { return clock_.steady(); }
    Task<void> sleep(Duration duration) override { return clock_.sleep(duration); }

    /// From now on `now` is the wall clock's again. By how much that was stepped since the last
    /// call; none if it was not.
    std::optional<Duration> step() {
        const Duration before = std::exchange(offset_, offset());
        const Duration by = offset_ - before;
        if (by < least && by > -least) return std::nullopt;
        return by;
    }

private:
    Duration offset() const { return clock_.now().time_since_epoch() - clock_.steady(); }

    Clock& clock_;
    Duration offset_;
};

}  // namespace reaper

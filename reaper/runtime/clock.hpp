// Port: time. The real one reads the system; tests move theirs by hand.
#pragma once

#include <optional>
#include <utility>

#include "reaper/model/time.hpp"
#include "reaper/runtime/task.hpp"

namespace reaper {

class Clock {
public:
    virtual ~Clock() = default;
    /// Of the wall: what others mean by a time. An operator or NTP may step it.
    virtual TimePoint now() const = 0;
    /// What the wall clock shows, though a step of it may not be noticed yet (`WatchedClock`).
    virtual TimePoint shown() const { return now(); }
    /// Since some earlier time: never steps, for deadlines, ages and intervals.
    virtual Duration steady() const = 0;
    /// Returns when `duration` has passed.
    virtual Task<void> sleep(Duration duration) = 0;
};

// The service's time: the wall clock's, which may be set forward or back under it. A step counts
// from the time at which it is noticed, and all that is remembered moves with it then: until that
// point, time goes on as before, so that no promise lapses and nothing gets younger by a step.

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

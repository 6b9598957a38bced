// Port: time. The real one reads the system; tests move theirs by hand.
#pragma once

#include "reaper/model/time.hpp"
#include "reaper/runtime/task.hpp"

namespace reaper {

class Clock {
public:
    virtual ~Clock() = default;
    /// Of the wall: what others mean by a time. An operator or NTP may step it.
    virtual TimePoint now() const = 0;
    /// What the wall clock shows, though a step of it may not be noticed yet (watched_clock.hpp).
    virtual TimePoint shown() const { return now(); }
    /// Since some earlier time: never steps, for deadlines, ages and intervals.
    virtual Duration steady() const = 0;
    /// Returns when `duration` has passed.
    virtual Task<void> sleep(Duration duration) = 0;
};

}  // namespace reaper

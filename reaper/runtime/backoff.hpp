// Waits between tries of something outside.
#pragma once

#include "reaper/runtime/clock.hpp"

namespace reaper {

/// Ends early when `stopping` (which must outlive the sleep, as the clock must) becomes true.
Task<void> sleep_unless(const bool& stopping, Clock& clock, Duration duration);

/// The duration, by up to a tenth shorter or longer.
Duration spread(Duration duration);

/// Pauses between tries: each twice the last, from `first` to `longest`. The wait is a random part
/// of it, from half to all, so that many waiting clients do not come back at the same time.
class GrowingPause {
public:
    GrowingPause(Duration first, Duration longest);
    Duration next();
    /// It worked: the next pause is the first one again.
    void reset() { next_ = first_; }
    /// What will not recover soon (wrong credentials, say) is tried at the longest interval.
    void slow_down() { next_ = longest_; }
    Duration longest() const { return longest_; }

private:
    Duration first_, longest_, next_;
};

/// Waits such pauses, by the given clock.
class Backoff {
public:
    explicit Backoff(Clock& clock, Duration longest = std::chrono::seconds{15},
                     Duration first = std::chrono::milliseconds{250});
    /// Ends early when `stopping` (which must outlive the pause) becomes true.
    Task<void> pause(const bool& stopping);
    /// The jitter of this thread's pauses, from a seed: for tests that are to be repeated exactly.
    static void seed(unsigned seed);
    /// What will not recover soon (wrong credentials, say) is tried at the longest interval.
    void slow_down() { pause_.slow_down(); }
    /// It worked: the next pause is the first one again.
    void reset() { pause_.reset(); }

private:
    Clock& clock_;
    GrowingPause pause_;
};

}  // namespace reaper

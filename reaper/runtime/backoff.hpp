// Waits between tries of something outside.
#pragma once

#include "reaper/runtime/clock.hpp"

namespace reaper {

/// Ends early when `stopping` (which must outlive the sleep, as the clock must) becomes true.
Task<void> sleep_unless(const bool& stopping, Clock& clock, Duration duration);

/// Doubles from a quarter second (or `first`) to `longest`, with jitter, so that many who wait do
/// not come back at once.
class Backoff {
public:
    explicit Backoff(Clock& clock, Duration longest = std::chrono::seconds{15},
                     Duration first = std::chrono::milliseconds{250});
    /// Ends early when `stopping` (which must outlive the pause) becomes true.
    Task<void> pause(const bool& stopping);
    /// The jitter of this thread's pauses, from a seed: for tests that are to be repeated exactly.
    static void seed(unsigned seed);
    /// What will not mend itself soon (wrong credentials, say) is tried at the longest interval.
    void slow_down() { next_ = longest_; }

private:
    Clock& clock_;
    Duration next_;
    Duration longest_;
};

}  // namespace reaper

#include "reaper/runtime/backoff.hpp"

#include <algorithm>
#include <random>

namespace reaper {

namespace {

std::minstd_rand& dice() {
    thread_local std::minstd_rand engine{std::random_device{}()};
    return engine;
}

}  // namespace

void Backoff::seed(unsigned seed) {
    dice().seed(seed);
}

Backoff::Backoff(Clock& clock, Duration longest, Duration first)
    : clock_(clock), next_(std::min(first, longest)), longest_(longest) {}

Task<void> Backoff::pause(const bool& stopping) {
    std::uniform_int_distribution<Duration::rep> jitter(next_.count() / 2, next_.count());
    const Duration left{jitter(dice())};
    next_ = std::min(next_ * 2, longest_);
    co_await sleep_unless(stopping, clock_, left);
}

Task<void> sleep_unless(const bool& stopping, Clock& clock, Duration duration) {
    // In slices, so that whoever stops the reaper need not wait for the longest pause.
    constexpr Duration slice{250};
    while (duration > Duration::zero() && !stopping) {
        co_await clock.sleep(std::min(duration, slice));
        duration -= slice;
    }
}

}  // namespace reaper

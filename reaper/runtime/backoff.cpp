#include "reaper/runtime/backoff.hpp"

#include <algorithm>
#include <random>

namespace reaper {

namespace {

std::minstd_rand& jitter_rng() {
    thread_local std::minstd_rand engine{std::random_device{}()};
    return engine;
}

}  // namespace

void Backoff::seed(unsigned seed) {
    jitter_rng().seed(seed);
}

GrowingPause::GrowingPause(Duration first, Duration longest)
    : first_(std::clamp(first, Duration{1}, std::max(longest, Duration{1}))),
      longest_(std::max(longest, first_)),
      next_(first_) {}

Duration GrowingPause::next() {
    std::uniform_int_distribution<Duration::rep> jitter(next_.count() / 2, next_.count());
    const Duration pause{jitter(jitter_rng())};
    next_ = std::min(next_ * 2, longest_);
    return pause;
}

Backoff::Backoff(Clock& clock, Duration longest, Duration first)
    : clock_(clock), pause_(first, longest) {}

Task<void> Backoff::pause(const bool& stopping) {
    const Duration left = pause_.next();
    co_await sleep_unless(stopping, clock_, left);
}

Duration spread(Duration duration) {
    const auto tenth = duration.count() / 10;
    std::uniform_int_distribution<Duration::rep> by(-tenth, tenth);
    return duration + Duration{by(jitter_rng())};
}

Task<void> sleep_unless(const bool& stopping, Clock& clock, Duration duration) {
    // In slices, so that a stop need not wait for the longest pause.
    constexpr Duration slice{250};
    while (duration > Duration::zero() && !stopping) {
        co_await clock.sleep(std::min(duration, slice));
        duration -= slice;
    }
}

}  // namespace reaper

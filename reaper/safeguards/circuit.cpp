#include "reaper/safeguards/circuit.hpp"

#include <algorithm>

namespace reaper {

std::string_view to_string(CircuitState state) {
    switch (state) {
        case CircuitState::closed: return "closed";
        case CircuitState::open: return "open";
        case CircuitState::half_open: return "half-open";
    }
    return "unknown";
}

std::optional<CircuitState> circuit_state_from(std::string_view text) {
    for (const auto state : {CircuitState::closed, CircuitState::open, CircuitState::half_open})
        if (to_string(state) == text) return state;
    return std::nullopt;
}
namespace {

constexpr int most_times = 1'000'000;

}  // namespace

void Circuit::open(TimePoint at, const RetrySettings& settings) {
    times_ = std::min(times_ + 1, most_times);
    by_itself_ = settings.retry_after > Duration::zero();
    Duration pause = settings.retry_after;
    const Duration longest = std::max<Duration>(settings.max_retry_after, settings.retry_after);
    for (int i = 1; i < times_ && pause < longest; ++i) pause *= 2;
    until_ = at + std::min(pause, longest);
}

CircuitState Circuit::state(TimePoint now) const {
    if (times_ == 0) return CircuitState::closed;
    return by_itself_ && now >= until_ ? CircuitState::half_open : CircuitState::open;
}

std::optional<TimePoint> Circuit::until() const {
    if (times_ == 0 || !by_itself_) return std::nullopt;
    return until_;
}

void Circuit::shift(Duration by) {
    if (times_ > 0) until_ += by;
}

}  // namespace reaper

// Growing pauses between tries. Internal to clients/amqp.
#pragma once

#include <algorithm>
#include <chrono>
#include <random>

namespace reaper::amqp {

/// Doubles from `first` to `most`; each pause is a random part, from half to all, of that, so that
/// many reapers do not come back at the same moment.
class Backoff {
public:
    using milliseconds = std::chrono::milliseconds;

    Backoff(milliseconds first, milliseconds most)
        : first_(std::max(first, milliseconds(10))), most_(std::max(most, first_)), next_(first_) {}

    milliseconds next() {
        const auto whole = next_.count();
        next_ = std::min(next_ * 2, most_);
        return milliseconds(std::uniform_int_distribution<long long>(whole / 2, whole)(random_));
    }
    void reset() { next_ = first_; }
    milliseconds most() const { return most_; }

private:
    milliseconds first_, most_, next_;
    std::minstd_rand random_{std::random_device()()};
};

}  // namespace reaper::amqp

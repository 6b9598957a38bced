// How long something took, many times: quantiles from counts by size, in little memory.
#pragma once

#include <array>
#include <bit>
#include <chrono>
#include <cstdint>

namespace reaper {

class DurationHistogram {
public:
    using Length = std::chrono::microseconds;

    void add(Length length);
    std::uint64_t count() const { return count_; }
    Length longest() const { return longest_; }
    /// So many of a thousand were no longer; at most an eighth too long. Zero without any.
    Length within(unsigned permille) const;

private:
    /// Eight buckets for each power of two.
    static constexpr unsigned fine = 3;
    static constexpr unsigned buckets = (40 << fine) + (1 << fine);

    static unsigned bucket_of(std::uint64_t us);
    static std::uint64_t most_in(unsigned bucket);

    std::array<std::uint64_t, buckets> counts_{};
    std::uint64_t count_ = 0;
    Length longest_{0};
};

}  // namespace reaper

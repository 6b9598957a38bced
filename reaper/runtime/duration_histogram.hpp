// How long something took, many times: quantiles from counts by size, in little memory.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cstdint>

namespace reaper {

class DurationHistogram {
public:
    using Length = std::chrono::microseconds;

    void add(Length length) {
        const auto us = static_cast<std::uint64_t>(std::max<Length::rep>(length.count(), 0));
        ++counts_[bucket_of(us)];
        ++count_;
        longest_ = std::max(longest_, length);
    }

    std::uint64_t count() const { return count_; }
    Length longest() const { return longest_; }
    /// So many of a thousand were no longer; at most an eighth too long. Zero without any.
    Length within(unsigned permille) const {
        const std::uint64_t wanted = (count_ * permille + 999) / 1000;
        std::uint64_t seen = 0;
        for (unsigned bucket = 0; bucket < buckets; ++bucket) {
            seen += counts_[bucket];
            if (seen < wanted || seen == 0) continue;
            if (bucket + 1 == buckets) break;  // it has no end
            return std::min(Length{static_cast<Length::rep>(most_in(bucket))}, longest_);
        }
        return longest_;
    }

private:
    /// Eight buckets for each power of two.
    static constexpr unsigned fine = 3;
    static constexpr unsigned buckets = (40 << fine) + (1 << fine);

    static unsigned bucket_of(std::uint64_t us) {
        constexpr std::uint64_t exact = 1U << fine;  // below, each has its own
        if (us < exact) return static_cast<unsigned>(us);
        const unsigned power = static_cast<unsigned>(std::bit_width(us)) - 1 - fine;
        const unsigned bucket = (power << fine) + static_cast<unsigned>(us >> power);
        return std::min(bucket, buckets - 1);
    }

    static std::uint64_t most_in(unsigned bucket) {
        constexpr unsigned exact = 1U << fine;
        if (bucket < exact) return bucket;
        const unsigned power = (bucket >> fine) - 1;
        const std::uint64_t first = exact + (bucket & (exact - 1));
        return ((first + 1) << power) - 1;
    }

    std::array<std::uint64_t, buckets> counts_{};
    std::uint64_t count_ = 0;
    Length longest_{0};
};

}  // namespace reaper

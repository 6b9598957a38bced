#include "reaper/runtime/duration_histogram.hpp"

#include <algorithm>

namespace reaper {

unsigned DurationHistogram::bucket_of(std::uint64_t us) {
    constexpr std::uint64_t exact = 1U << fine;  // below, each has its own
    if (us < exact) return static_cast<unsigned>(us);
    const unsigned power = static_cast<unsigned>(std::bit_width(us)) - 1 - fine;
    const unsigned bucket = (power << fine) + static_cast<unsigned>(us >> power);
    return std::min(bucket, buckets - 1);
}

std::uint64_t DurationHistogram::most_in(unsigned bucket) {
    constexpr unsigned exact = 1U << fine;
    if (bucket < exact) return bucket;
    const unsigned power = (bucket >> fine) - 1;
    const std::uint64_t first = exact + (bucket & (exact - 1));
    return ((first + 1) << power) - 1;
}

void DurationHistogram::add(Length length) {
    const auto us = static_cast<std::uint64_t>(std::max<Length::rep>(length.count(), 0));
    ++counts_[bucket_of(us)];
    ++count_;
    longest_ = std::max(longest_, length);
}

DurationHistogram::Length DurationHistogram::within(unsigned permille) const {
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

}  // namespace reaper

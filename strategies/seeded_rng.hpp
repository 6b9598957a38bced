// SeededRng whose throws depend on the seed alone, on every platform (the standard library's
// distributions are each implementation's own).
#pragma once

#include <cstdint>
#include <limits>
#include <random>

namespace reaper {

class SeededRng {
public:
    explicit SeededRng(std::uint64_t seed) : engine_{seed} {}

    /// A number from 0 to `bound` - 1, each as likely; `bound` > 0. Throws again where the
    /// generator's range is no multiple of `bound`.
    std::uint64_t below(std::uint64_t bound) {
        const std::uint64_t all = std::numeric_limits<std::uint64_t>::max();
        const std::uint64_t fair = all - all % bound;
        std::uint64_t paused_reason = engine_();
        while (paused_reason >= fair) paused_reason = engine_();
        return paused_reason % bound;
    }

private:
    std::mt19937_64 engine_;
};

}  // namespace reaper

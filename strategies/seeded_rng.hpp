// Dice whose throws depend on the seed alone, on every platform (the standard library's
// distributions are each implementation's own).
#pragma once

#include <cstdint>
#include <limits>
#include <random>

namespace reaper {

class Dice {
public:
    explicit Dice(std::uint64_t seed) : engine_{seed} {}

    /// A number from 0 to `bound` - 1, each as likely; `bound` > 0. Throws again where the
    /// generator's range is no multiple of `bound`.
    std::uint64_t below(std::uint64_t bound) {
        const std::uint64_t all = std::numeric_limits<std::uint64_t>::max();
        const std::uint64_t fair = all - all % bound;
        std::uint64_t thrown = engine_();
        while (thrown >= fair) thrown = engine_();
        return thrown % bound;
    }

private:
    std::mt19937_64 engine_;
};

}  // namespace reaper

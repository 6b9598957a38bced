// Seeded chance.
#pragma once

#include <cstdint>
#include <initializer_list>

#include "tests/cloudsim/core/ids.hpp"

namespace reaper::faults {

class Chance {
public:
    explicit Chance(std::uint64_t seed) : rng_(seed) {}
    std::uint64_t next() { return rng_.next(); }
    template <class T>
    std::uint64_t below(T bound) {
        return rng_.below(static_cast<std::uint64_t>(bound));
    }
    int between(int least, int most) { return least + static_cast<int>(below(most - least + 1)); }
    bool percent(int chance) { return between(0, 99) < chance; }
    /// From 0 up to, not including, 1.
    double fraction() { return static_cast<double>(below(1U << 30)) / (1U << 30); }
    template <class T>
    T pick(std::initializer_list<T> from) {
        return *(from.begin() + below(from.size()));
    }
    template <class Container>
    auto& any_of(Container& from) {
        return from[below(from.size())];
    }

private:
    cloudsim::SeededRng rng_;
};

}  // namespace reaper::faults

// What a way to free slots costs: one amount for each level, the first difference decides, lower is
// better. Additive over victims and hosts, so costs can be summed, and a lower bound needs
// only what is still to be added.
#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <cstddef>

#include "reaper/model/resources.hpp"

namespace reaper {

/// Levels of an objective at most; what has more puts the last ones together, and says so.
constexpr std::size_t max_objective_levels = 10;
/// And two by which equal ways are distinguished.
constexpr std::size_t max_levels = max_objective_levels + 2;

/// No single amount of a cost is larger: sums over thousands of servers stay in 64 bits.
constexpr Amount largest_cost = Amount{1} << 50;

inline Amount capped(Amount amount) {
    return std::clamp<Amount>(amount, 0, largest_cost);
}

struct Cost {
    std::array<Amount, max_levels> level{};  ///< those that the objective lacks are 0

    Amount& operator[](std::size_t i) { return level[i]; }
    Amount operator[](std::size_t i) const { return level[i]; }

    Cost& operator+=(const Cost& other) {
        for (std::size_t i = 0; i < max_levels; ++i)
            level[i] = saturating_add(level[i], other.level[i]);
        return *this;
    }
    Cost& operator-=(const Cost& other) {
        for (std::size_t i = 0; i < max_levels; ++i)
            level[i] = saturating_subtract(level[i], other.level[i]);
        return *this;
    }
    friend Cost operator+(Cost a, const Cost& b) { return a += b; }
    friend Cost operator-(Cost a, const Cost& b) { return a -= b; }

    friend auto operator<=>(const Cost&, const Cost&) = default;
};

}  // namespace reaper

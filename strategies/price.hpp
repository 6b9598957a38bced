// Prices: a cost for a number of slots, compared and applied exactly, level by level as costs are.
// Costs in the order of their levels are an ordered group, so that all arithmetic of Lagrangian
// bounds holds for them as it does for numbers. Nothing is rounded: what a price says of a cost is
// *scaled*, which is times the price's slots.
#pragma once

#include <array>
#include <limits>

#include "strategies/cost.hpp"

namespace reaper {

/// What one slot costs: `cost` for so many of them.
struct Price {
    Cost cost;
    Amount slots = 1;  ///< > 0
};

/// A cost times the slots of a price.
struct Scaled {
    __extension__ using Wide = __int128;
    std::array<Wide, max_levels> level{};

    Wide& operator[](std::size_t i) { return level[i]; }
    Wide operator[](std::size_t i) const { return level[i]; }

    friend bool operator<(const Scaled& a, const Scaled& b) {
        for (std::size_t i = 0; i < max_levels; ++i)
            if (a[i] != b[i]) return a[i] < b[i];
        return false;
    }
};

inline bool operator<(const Price& a, const Price& b) {
    for (std::size_t i = 0; i < max_levels; ++i) {
        const Scaled::Wide left = Scaled::Wide{a.cost[i]} * b.slots;
        const Scaled::Wide right = Scaled::Wide{b.cost[i]} * a.slots;
        if (left != right) return left < right;
    }
    return false;
}

/// a + b into `sum`; false as soon as it is not below `limit` (if there is one).
inline bool add_below(const Scaled& a, const Scaled& b, const Scaled* limit, Scaled& sum) {
    bool level_with_limit = limit != nullptr;
    for (std::size_t i = 0; i < max_levels; ++i) {
        sum[i] = a[i] + b[i];
        if (!level_with_limit) continue;
        if (sum[i] > (*limit)[i]) return false;
        level_with_limit = sum[i] == (*limit)[i];
    }
    return !level_with_limit;
}

/// What is above the price when this many more slots have this additional cost: scaled, into
/// `above`. False as soon as it is not below `limit` (if there is one).
inline bool above_price(const Price& price, const Cost& more, Amount slots, const Scaled* limit,
                        Scaled& above) {
    bool level_with_limit = limit != nullptr;
    for (std::size_t i = 0; i < max_levels; ++i) {
        above[i] = Scaled::Wide{more[i]} * price.slots - Scaled::Wide{price.cost[i]} * slots;
        if (!level_with_limit) continue;
        if (above[i] > (*limit)[i]) return false;
        level_with_limit = above[i] == (*limit)[i];
    }
    return !level_with_limit;
}

/// The largest cost that is at most `slots` at the price, and `slack` on top; the least, where
/// `up`, that is no less.
inline Cost whole_cost(const Price& price, Amount slots, const Scaled& slack, bool up = false) {
    Cost cost;
    for (std::size_t i = 0; i < max_levels; ++i) {
        const Scaled::Wide exact = Scaled::Wide{price.cost[i]} * slots + slack[i];
        Scaled::Wide quotient = exact / price.slots;
        const Scaled::Wide rest = exact - quotient * price.slots;
        if (rest < 0 && !up) --quotient;
        if (rest > 0 && up) ++quotient;
        constexpr Scaled::Wide most = std::numeric_limits<Amount>::max();
        cost[i] = static_cast<Amount>(std::clamp(quotient, -most, most));
        if (rest == 0) continue;
        // The next levels no longer decide.
        for (++i; i < max_levels; ++i) cost[i] = up ? 0 : std::numeric_limits<Amount>::max();
    }
    return cost;
}

}  // namespace reaper

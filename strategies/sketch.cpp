#include "strategies/sketch.hpp"

#include <algorithm>

#include "reaper/model/amount.hpp"

namespace reaper {

Amount WorkCurve::least(Amount wanted, Amount now) const {
    // The last sampled point below what is wanted, and the rest at the price of the next candidate.
    std::size_t at = 0;
    while (at + 1 < points && gain[at + 1] > gain[at] && gain[at + 1] <= wanted) ++at;
    const Amount before = saturating_subtract(saturating_multiply(gain[at], now), started[at]);
    const Amount rest = saturating_multiply(wanted - gain[at], now - next[at]);
    return std::max<Amount>(saturating_add(before, std::max<Amount>(rest, 0)), 0);
}

}  // namespace reaper

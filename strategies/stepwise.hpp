// Stepwise: very many slots over hosts, one after the other, where the exact knapsack would take
// too long.
//
// Each step takes the host whose next slot adds least to what its slots cost, searched lazily by
// its bound. Good, not proven best: so it tells a bound that no way undercuts in the first level.
// For each host that is the least, over its numbers of slots, of what one of them costs on average
// by its bound; as many slots as hosts can give at those prices, cheapest first. O((hosts + slots)
// * log hosts), and a search for each step.
#pragma once

#include <vector>

#include "strategies/offers.hpp"
#include "strategies/shares.hpp"

namespace reaper {

struct Stepwise {
    std::vector<Share> shares;
    Amount least = 0;  ///< of the first level
};

/// `slots` beyond those that are ready; no more than are possible.
Stepwise stepwise(Searches& searches, std::size_t slots);

}  // namespace reaper

// Cheapest: slots over hosts under an order, one slot after the other.
//
// Each step takes the host whose next slot adds least to the cost of the hosts where servers die,
// given what was chosen so far. A host's victims are found anew for each number of slots (slots on
// one host share victims and room), so for one slot the choice over all hosts is exact; for more it
// is greedy over hosts. Hosts are searched only when their lower bound comes up first (lazy
// best-first). Ties: the victims' places in the order's tie rule, then host name, then id.
#pragma once

#include <cstdint>

#include "strategies/order.hpp"

namespace reaper {

/// `max_steps`: visited nodes of one host's search at most; a whole selection has 20 times as many,
/// and some for every host even then. A search that was cut is told in the note, with the gap.
Selection cheapest(const Problem& problem, const Order& order, std::int64_t max_steps);

}  // namespace reaper

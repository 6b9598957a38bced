// Shares: how many slots each host gives, so that together they cost least.
//
// A multiple-choice knapsack: of each host at most one number of slots, the numbers add up to the
// wanted, the costs (which are not convex in the number: slots on one host share victims) add up to
// the least. Solved exactly by dynamic programming over hosts, O(hosts * slots * choices)
// (Kellerer, Pferschy, Pisinger: Knapsack Problems, 2004, chapter 11).
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "strategies/cost.hpp"

namespace reaper {

/// One host's choices: what `extra` slots cost, by extra - 1; nothing where it is no choice.
struct ShareChoices {
    std::size_t host = 0;
    std::vector<std::optional<Cost>> costs;
};

struct Share {
    std::size_t host = 0;
    std::size_t extra = 0;
};

class Shares {
public:
    /// For up to `slots` slots; `choices` by host in the order in which they win ties.
    Shares(std::vector<ShareChoices> choices, std::size_t slots);

    /// What that many slots cost at least; none if there is no way.
    std::optional<Cost> cost(std::size_t slots) const;
    /// Who gives them.
    std::vector<Share> best(std::size_t slots) const;

private:
    void tabulate();

    std::vector<ShareChoices> choices_;
    std::size_t slots_;
    std::vector<std::optional<Cost>> costs_;          // by slots
    std::vector<std::vector<std::uint16_t>> picked_;  // by choice and slots: extra
};

}  // namespace reaper

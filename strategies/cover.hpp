// Cover: the best victims on one host for a number of slots, under an objective.
//
// Depth-first branch and bound over the candidates, identical ones (equal gains) as a group of
// which always the first few by cost and tie rule are taken, so that the search runs over counts
// and not over subsets. A branch is cut when the rest can't make the room, when a lower bound of
// its cost exceeds the best found, or when it ties and its servers can't come first. Bounds, level
// by level:
//   - of waste, the smallest sum of the remaining gains that reaches the need: exact per class from
//     a table of reachable sums in units of their greatest common divisor, or the next multiple of
//     the divisor where the table would be large (cover.cpp);
//   - of everything counted by victim, the fractional knapsack (Dantzig 1957): the remaining
//     servers in the order of cost by gain, the last one in part; the scarcest class counts.
// Worst case exponential in the number of different gains, so the steps are limited: then the
// result is the best found, with the bound that holds for every set. A step takes
// O(levels * classes * candidates) at worst; the first set is found in O(candidates) steps.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "strategies/objective.hpp"

namespace reaper {

struct Cover {
    std::vector<std::size_t> victims;  ///< candidates, in the tie rule's order
    std::vector<Amount> checker;       ///< theirs in the tie rule's order; empty if the id decides
    Cost cost;                         ///< with the host's base
    Cost bound;                        ///< no set costs less, level by level
    bool proven = true;                ///< false: the steps of it or of a packing ran out first
};

class CoverSearch {
public:
    /// The arguments must outlive this.
    CoverSearch(const Shape& shape, const HostOption& option, const Objective& objective);
    ~CoverSearch();
    CoverSearch(CoverSearch&&) noexcept;

    /// What no set of victims for `slots` slots can undercut, in any level; without a search.
    /// `slots` > 0 and at most the host's `slots_possible`, here and below.
    Cost bound(Amount slots);
    /// The best set. `steps` (visited nodes, and those of packings) is counted down; at least one
    /// set is found even if it is 0 at once.
    Cover best(Amount slots, std::int64_t& steps);

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace reaper

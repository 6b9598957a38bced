// Cover: the best victims on one host for a number of slots, under an order.
//
// Depth-first branch and bound over the candidates, identical ones (equal gains) as a group of
// which always the first few in the tie rule's order are taken, so that the search runs over counts
// and not over subsets. A branch is cut when the rest can't make the room, when a lower bound of
// its cost exceeds the best found, or when it ties and its servers can't come first. The bound of a
// leftover is the smallest sum of the remaining gains that reaches the need: exact per class from a
// table of reachable sums in units of their greatest common divisor, or the next multiple of the
// divisor where the table would be large; the bound of the number of victims is the need over the
// largest gain. Worst case exponential in the number of different gains, so the steps are limited:
// then the result is the best found, with the bound that holds for every set.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "strategies/order.hpp"

namespace reaper {

struct Cover {
    std::vector<std::size_t> victims;  ///< candidates, in the tie rule's order
    Cost cost;                         ///< with the host's base
    Cost bound;                        ///< no set costs less, in any term
    bool proven = true;                ///< false: the steps ran out first
};

class CoverSearch {
public:
    /// `slots` > 0 and at most `option.slots_possible`. The arguments must outlive this.
    CoverSearch(const Shape& shape, const HostOption& option, const Order& order, Amount slots);
    ~CoverSearch();

    /// What no set of victims can undercut, in any term; without a search.
    Cost bound() const;
    /// The best set. `steps` (visited nodes) is counted down; at least one set is found even if it
    /// is 0 at once.
    Cover best(std::int64_t& steps);

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace reaper

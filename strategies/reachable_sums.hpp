// Which sums the last items of a row can make: the exact lower bound for one class's leftover.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "reaper/model/resources.hpp"

namespace reaper {

/// For a row of non-negative gains: for every position, the sums that subsets of the items from
/// there on can make. Sums are kept as bits in units of the greatest common divisor of the whole
/// row, up to `need` plus the largest gain (a smallest sum that reaches a need lies below that).
/// Where this would take more than `max_bits`, only divisors are kept and the answers become lower
/// bounds. O(n * (need + largest) / divisor / 64) to build.
class ReachableSums {
public:
    ReachableSums(const std::vector<Amount>& gains, Amount need, std::size_t max_bits);

    /// The smallest sum of items from `position` on that is at least `need` (at most the need that
    /// this was built for), or a lower bound of it; none if there is none.
    std::optional<Amount> at_least(std::size_t position, Amount need) const;
    /// The largest gain from `position` on.
    Amount largest(std::size_t position) const { return largest_[position]; }
    /// The sum of all from `position` on.
    Amount total(std::size_t position) const { return total_[position]; }

private:
    using Bits = std::vector<std::uint64_t>;

    std::vector<Amount> largest_;  // by position, one more than items
    std::vector<Amount> total_;
    std::vector<Amount> divisor_;  // of the items from a position on; 0 if they are all 0
    Amount unit_ = 0;              // divisor of the whole row
    std::vector<Bits> sums_;       // by position; empty if only divisors are kept
};

}  // namespace reaper

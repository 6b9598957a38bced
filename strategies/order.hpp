// An order over the ways to free slots: what most strategies are. The solver (cover, cheapest)
// minimises it; a new strategy of this kind is a new order, never a copy of the solver.
//
// A set of victims costs one amount for each *term*; costs are compared term by term, the first
// difference decides, lower is better. Every term is additive: a constant of the host and the
// number of slots, plus an amount of each victim that is never negative. So costs of hosts can be
// summed, and bounds need only look at what is still to be added. Sets of equal cost are ordered by
// their servers, in the order of the tie rule, so the best is always one and the same.
#pragma once

#include <cstddef>
#include <vector>

#include "strategies/strategy.hpp"

namespace reaper {

/// By term.
using Cost = std::vector<Amount>;

struct Term {
    enum class Kind {
        leftover,  ///< free + victims - requested, of one class
        victims,   ///< their number
    };
    Kind kind{};
    std::size_t need = 0;  ///< of a leftover: index into the shape
};

struct Order {
    /// Which of two servers goes first when the costs are equal.
    enum class Tie { id, newest, oldest };

    std::vector<Term> terms;  ///< the last is `victims`
    Tie tie = Tie::id;

    /// What the host costs with `slots` slots before any victim. May be negative.
    Cost base(const Shape& shape, const HostRoom& room, Amount slots) const;
    /// What one more victim adds. Never negative.
    Cost of(const HostRoom& room, const ByPool& gains) const;
    /// Indices of the candidates, the one that goes first first.
    std::vector<std::size_t> ranking(const std::vector<Candidate>& candidates) const;
    /// Places servers of different hosts in the tie rule's order (lower goes first); 0 where only
    /// the id decides.
    Amount place(const Server& server) const;

    /// The leftover terms of a cost with the names of their classes; for people.
    Resources leftover(const Shape& shape, const Cost& cost) const;
};

/// Leftovers first, in the order of `classes` (those that the shape has), then of its other classes
/// by name; then the number of victims.
Order leftover_order(const Shape& shape, const std::vector<ResourceClass>& classes, Order::Tie tie);

}  // namespace reaper

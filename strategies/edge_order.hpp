// Edges in the order of their prices, as far as they are asked for: the first ones are kept in
// order, the rest in none until it is their turn. What comes and goes costs O(log of the first),
// and each edge is put in order once at most.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "strategies/price.hpp"

namespace reaper {

/// From one number of slots on a host to the next that is worth it.
struct Edge {
    Price price;
    std::uint32_t at = 0;  ///< the host
    std::int32_t to = -1;  ///< the choice that it leads to

    friend bool operator<(const Edge& a, const Edge& b) {
        if (a.price < b.price) return true;
        if (b.price < a.price) return false;
        if (a.at != b.at) return a.at < b.at;
        if (a.to != b.to) return a.to < b.to;
        return a.price.slots < b.price.slots;
    }
};

class EdgeOrder {
public:
    void add(const Edge& edge);
    /// It must be there.
    void remove(const Edge& edge);

    /// `visit(edge)` for each in order, from the first that is above `after` (null: from the
    /// first); until it returns false. True if it did.
    template <class Visit>
    bool each(const Edge* after, Visit visit) {
        auto next = after == nullptr ? first_.begin() : first_.upper_bound(*after);
        while (true) {
            for (; next != first_.end(); ++next)
                if (!visit(*next)) return true;
            if (rest_.empty()) return false;
            std::optional<Edge> visited;
            if (!first_.empty()) visited = *first_.rbegin();
            if (after != nullptr && (!visited || *visited < *after)) visited = *after;
            order_more();
            next = visited ? first_.upper_bound(*visited) : first_.begin();
        }
    }

private:
    void order_more();

    std::set<Edge> first_;
    std::vector<Edge> rest_;       // in no order
    std::optional<Edge> horizon_;  // all of the rest is from here on; none: there is no order yet
    std::set<Edge> gone_;          // of the rest
};

}  // namespace reaper

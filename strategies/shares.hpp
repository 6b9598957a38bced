// Shares: how many slots each host gives, so that together they cost least.
//
// A multiple-choice knapsack: of each host at most one number of slots, the numbers add up to the
// wanted, the costs (which are not convex in the number: slots on one host share victims) add up to
// the least. Solved exactly for any number (Pisinger, "A minimal algorithm for the multiple-choice
// knapsack problem", 1995): at the right *price* of a slot each host by itself gives what costs
// least above the price, and all together give as many as are wanted, but for a part of what one of
// them gives. No way costs less than that (the Lagrangian bound). What any other choice costs more
// at that price adds up, so that only choices within the gap between the bound and the best way
// found can be part of a better one: a dynamic program over these, hosts with the least first, in
// which the gap shrinks, until the next host's least is no longer within it.
//
// The price takes as long as there are slots and choices that changed since the last time; the core
// that the program runs over is a few hosts, mostly. Its steps are limited: then the best found
// stands, with the bound.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <vector>

#include "strategies/cost.hpp"

namespace reaper {

// Prices: a cost for a number of slots, compared and applied exactly, level by level as costs are.
// Costs in the order of their levels are an ordered group, so that all arithmetic of Lagrangian
// bounds holds for them as it does for numbers. Nothing is rounded: what a price says of a cost is
// *scaled*, which is times the price's slots.

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

// Edges in the order of their prices, as far as they are asked for: the first ones are kept in
// order, the rest in none until it is their turn. What comes and goes costs O(log of the first),
// and each edge is put in order once at most.

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

struct Share {
    std::size_t host = 0;
    std::size_t extra = 0;
};

class Shares {
public:
    /// Says what `extra` slots on the host cost, exactly (`searched`) or at least.
    void put(std::size_t host, std::size_t extra, const Cost& cost, bool searched);
    /// As it was said; null if it was not.
    const Cost* cost(std::size_t host, std::size_t extra) const;
    bool searched(const Share& share) const;
    /// All that were searched.
    std::vector<Share> searched() const;

    /// Another number may take as many steps as the one before it.
    void renew_steps() { steps_left_ = max_steps; }
    /// The price of a slot where so many are wanted; false if there is no way at all.
    bool find_price(std::size_t slots);
    const Price& price() const { return price_; }
    /// The hosts and their slots at that price: as many as are wanted at most, and the last of them
    /// more than are left.
    std::vector<Share> at_price() const;

    /// Those that were not searched and would come next if the price rose.
    std::vector<Share> next(std::size_t count);

    /// How many slots are open at the price, and which host would give a part of what it could.
    Share open() const { return {hosts_[last_.at].host, slots_ - given_}; }
    /// Of those that cost least for a number of slots so many decide: no more are in use together
    /// with one of them, so that any other could be exchanged.
    std::size_t that_decide(std::size_t extra) const {
        return extra > slots_ ? 0 : slots_ - extra + 1;
    }
    /// What the host gives at the price.
    std::size_t given_by(std::size_t host) const;

    /// After the price: the best way; false if none is known.
    bool find_best();
    const std::vector<Share>& best() const { return best_; }
    /// Those that were not searched and might be part of a better way, the likeliest first.
    std::vector<Share> likeliest(std::size_t count) const;
    /// The steps of all dynamic programs together are used up: what was best before stays.
    bool used_up() const { return steps_left_ == 0; }
    /// No way costs less.
    Cost least() const { return least_; }
    /// What the best way costs above the bound, scaled by the price.
    const Scaled& gap() const { return *gap_; }

private:
    struct Choice {
        std::size_t extra = 0;
        Cost cost;
        bool searched = false;
    };
    static constexpr std::int32_t none = -1;
    static constexpr std::size_t max_steps = 3'000'000;
    struct Choices {
        std::size_t host = 0;
        std::vector<Choice> list;  // by extra
        std::vector<Edge> hull;    // to those below all lines between two others
        bool changed = false;
        std::int32_t taken = none;  // at the price
    };
    /// Another choice than at the price.
    struct Change {
        Scaled above;
        Amount slots = 0;  // more, or less
        std::uint32_t at = 0;
        std::int32_t to = none;
    };
    struct Core;

    void draw_hull(std::uint32_t at);
    EdgeOrder& order_of(std::size_t extra);
    std::int32_t find_choice(const Choices& choices, std::size_t extra) const;
    bool is_searched(const Edge& edge) const;
    std::vector<Change> changes(const Scaled* limit);
    std::optional<std::vector<std::int32_t>> before() const;
    std::optional<Change> best_single(std::size_t open);
    void keep(const std::vector<std::int32_t>& chosen);
    Cost cost_of(const Choices& choices, std::int32_t choice) const {
        return choice == none ? Cost{} : choices.list[static_cast<std::size_t>(choice)].cost;
    }
    static std::size_t extra_of(const Choices& choices, std::int32_t choice) {
        return choice == none ? 0 : choices.list[static_cast<std::size_t>(choice)].extra;
    }

    std::vector<Choices> hosts_;
    std::vector<std::uint32_t> changed_;  // of these, the ones whose hull is to be drawn again
    std::vector<std::int32_t> at_;        // by host: in `hosts_`
    std::size_t slots_ = 0;
    std::size_t steps_left_ = max_steps;
    Price price_;
    std::size_t given_ = 0;              // at the price
    Edge last_;                          // taken in part
    std::vector<std::uint32_t> takers_;  // hosts that give something at the price
    EdgeOrder edges_;
    /// The choices by number of slots, each from nothing: `Edge::to` is that number.
    std::vector<EdgeOrder> by_extra_;
    std::vector<Share> best_;
    std::vector<Change> looked_at_;  // for the best way
    Cost least_;
    std::optional<Scaled> gap_;
};

}  // namespace reaper

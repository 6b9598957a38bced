#include "strategies/cover.hpp"

#include <algorithm>
#include <limits>
#include <optional>

#include "reaper/model/amount.hpp"
#include "strategies/reachable_sums.hpp"

namespace reaper {
namespace {

/// Bits of all tables of one class: 2 MiB.
constexpr std::size_t max_table_bits = std::size_t{1} << 24;

/// One candidate in the order in which the search takes them.
struct Item {
    std::size_t candidate = 0;
    std::size_t rank = 0;        // in the tie rule's order
    std::size_t next_group = 0;  // position of the first item with other gains
    Cost cost;
};

}  // namespace

struct CoverSearch::State {
    const Shape& shape;
    const HostOption& option;
    const Order& order;
    Amount slots;

    std::vector<std::size_t> ranking;           // candidates, first to go first
    std::vector<Item> items;                    // by group, then rank
    std::vector<std::size_t> position_of_rank;  // the inverse
    std::vector<std::size_t> pools_of_need;     // how many providers
    std::vector<ReachableSums> sums;            // by need

    ByPool room;                      // with the chosen ones gone
    Cost cost;                        // of the chosen ones, with the base
    std::vector<std::size_t> chosen;  // positions
    std::optional<Cost> best_cost;
    std::vector<std::size_t> best_ranks;  // sorted
    std::int64_t* steps = nullptr;
    bool cut = false;

    State(const Shape& shape_, const HostOption& option_, const Order& order_, Amount slots_)
        : shape{shape_},
          option{option_},
          order{order_},
          slots{slots_},
          ranking{order_.ranking(option_.candidates)},
          room{option_.room.room_now()},
          cost{order_.base(shape_, option_.room, slots_)} {
        list_items();
        tabulate();
    }

    const ByPool& gains(const Item& item) const { return option.candidates[item.candidate].gains; }

    /// Groups, the largest gains (in the order of the terms) first.
    void list_items() {
        for (std::size_t rank = 0; rank < ranking.size(); ++rank)
            items.push_back(Item{ranking[rank], rank, 0,
                                 order.of(option.room, option.candidates[ranking[rank]].gains)});
        std::sort(items.begin(), items.end(), [&](const Item& a, const Item& b) {
            if (a.cost != b.cost) return a.cost > b.cost;
            if (gains(a) != gains(b)) return gains(a) > gains(b);
            return a.rank < b.rank;
        });
        position_of_rank.resize(items.size());
        for (std::size_t i = items.size(); i-- > 0;) {
            const bool last = i + 1 == items.size() || gains(items[i]) != gains(items[i + 1]);
            items[i].next_group = last ? i + 1 : items[i + 1].next_group;
            position_of_rank[items[i].rank] = i;
        }
    }

    void tabulate() {
        pools_of_need.assign(shape.size(), 0);
        for (const auto& pool : option.room.pools) ++pools_of_need[pool.need];
        for (std::size_t need = 0; need < shape.size(); ++need) {
            std::vector<Amount> row(items.size(), 0);
            for (std::size_t i = 0; i < items.size(); ++i) row[i] = gain(items[i], need);
            sums.emplace_back(row, wanting(need), max_table_bits);
        }
    }

    Amount gain(const Item& item, std::size_t need) const {
        Amount sum = 0;
        for (std::size_t pool = 0; pool < room.size(); ++pool)
            if (option.room.pools[pool].need == need) sum = saturating_add(sum, gains(item)[pool]);
        return sum;
    }

    /// free - requested of one class, and the least that it can be once the slots are there.
    Amount leftover(std::size_t need) const {
        Amount total = 0;
        for (std::size_t pool = 0; pool < room.size(); ++pool)
            if (option.room.pools[pool].need == need) total = saturating_add(total, room[pool]);
        total = saturating_subtract(total, option.room.promised[need]);
        return saturating_subtract(total, saturating_multiply(shape[need].amount, slots));
    }
    Amount least_leftover(std::size_t need) const {
        if (pools_of_need[need] == 1) return 0;
        Amount least = 0;  // an overfull provider gives no slot, yet counts in the sum
        for (std::size_t pool = 0; pool < room.size(); ++pool)
            if (option.room.pools[pool].need == need && room[pool] < 0)
                least = saturating_add(least, room[pool]);
        return least;
    }
    /// What the class still needs at least.
    Amount wanting(std::size_t need) const {
        return std::max<Amount>(saturating_subtract(least_leftover(need), leftover(need)), 0);
    }

    /// A lower bound, term by term, for all sets that add items from `position` on; none if no such
    /// set makes the room.
    std::optional<Cost> bound_from(std::size_t position) const {
        Cost bound = cost;
        Amount more = 0;
        std::vector<Amount> growth(shape.size(), 0);
        for (std::size_t need = 0; need < shape.size(); ++need) {
            const Amount lacking = wanting(need);
            if (lacking == 0) continue;
            const auto least = sums[need].at_least(position, lacking);
            if (!least) return std::nullopt;
            growth[need] = *least;
            more = std::max(more, divide_up(lacking, sums[need].largest(position)));
        }
        for (std::size_t i = 0; i < bound.size(); ++i) {
            const auto& term = order.terms[i];
            bound[i] = saturating_add(bound[i],
                                      term.kind == Term::Kind::leftover ? growth[term.need] : more);
        }
        return bound;
    }

    bool enough() const { return option.room.slots(shape, room) >= slots; }

    bool enough_with_rest(std::size_t position) const {
        for (std::size_t need = 0; need < shape.size(); ++need)
            if (pools_of_need[need] > 1) {
                ByPool all = room;
                for (std::size_t i = position; i < items.size(); ++i)
                    for (std::size_t pool = 0; pool < all.size(); ++pool)
                        all[pool] = saturating_add(all[pool], gains(items[i])[pool]);
                return option.room.slots(shape, all) >= slots;
            }
        return true;  // with one provider for each class, the bound has seen to it
    }

    std::vector<std::size_t> chosen_ranks() const {
        std::vector<std::size_t> ranks;
        ranks.reserve(chosen.size());
        for (const std::size_t position : chosen) ranks.push_back(items[position].rank);
        std::sort(ranks.begin(), ranks.end());
        return ranks;
    }

    /// Could the chosen ones and some from `position` on, as many as the best has, come before it?
    bool may_come_first(std::size_t position) const {
        auto ranks = chosen_ranks();
        const std::size_t fixed = ranks.size();
        for (std::size_t rank = 0; rank < items.size() && ranks.size() < best_ranks.size(); ++rank)
            if (position_of_rank[rank] >= position) ranks.push_back(rank);
        std::inplace_merge(ranks.begin(), ranks.begin() + static_cast<std::ptrdiff_t>(fixed),
                           ranks.end());
        return ranks < best_ranks;
    }

    void consider() {
        auto ranks = chosen_ranks();
        if (best_cost && (cost > *best_cost || (cost == *best_cost && ranks >= best_ranks))) return;
        best_cost = cost;
        best_ranks = std::move(ranks);
    }

    void choose(std::size_t position, Amount sign) {
        const auto& item = items[position];
        for (std::size_t pool = 0; pool < room.size(); ++pool)
            room[pool] += sign * gains(item)[pool];
        for (std::size_t i = 0; i < cost.size(); ++i) cost[i] += sign * item.cost[i];
    }

    void visit(std::size_t position) {
        if (best_cost && --*steps < 0) cut = true;
        if (cut) return;
        if (enough()) return consider();  // every further victim costs more
        if (position == items.size()) return;
        const auto bound = bound_from(position);
        if (!bound || !enough_with_rest(position)) return;
        if (best_cost &&
            (*bound > *best_cost || (*bound == *best_cost && !may_come_first(position))))
            return;
        choose(position, 1);
        chosen.push_back(position);
        visit(position + 1);
        chosen.pop_back();
        choose(position, -1);
        visit(items[position].next_group);
    }
};

CoverSearch::CoverSearch(const Shape& shape, const HostOption& option, const Order& order,
                         Amount slots)
    : state_{std::make_unique<State>(shape, option, order, slots)} {}

CoverSearch::~CoverSearch() = default;

Cost CoverSearch::bound() const {
    return state_->bound_from(0).value_or(state_->cost);
}

Cover CoverSearch::best(std::int64_t& steps) {
    auto& state = *state_;
    Cover cover;
    cover.bound = bound();
    state.steps = &steps;
    state.visit(0);
    steps = std::max<std::int64_t>(steps, 0);
    cover.cost = state.best_cost.value_or(cover.bound);
    cover.proven = !state.cut;
    for (const std::size_t rank : state.best_ranks) cover.victims.push_back(state.ranking[rank]);
    return cover;
}

}  // namespace reaper

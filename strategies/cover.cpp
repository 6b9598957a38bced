#include "strategies/cover.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <numeric>
#include <optional>

#include "reaper/model/resources.hpp"

namespace reaper {

// Which sums the last items of a row can make: the exact lower bound for one class's leftover.

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

namespace {

constexpr std::size_t word_bits = 64;

/// bits |= bits << by, within the width of `bits`.
void or_shifted(std::vector<std::uint64_t>& bits, std::size_t by) {
    const std::size_t words = by / word_bits;
    const std::size_t rest = by % word_bits;
    for (std::size_t i = bits.size(); i-- > words;) {
        std::uint64_t shifted = bits[i - words] << rest;
        if (rest != 0 && i > words) shifted |= bits[i - words - 1] >> (word_bits - rest);
        bits[i] |= shifted;
    }
}

}  // namespace

ReachableSums::ReachableSums(const std::vector<Amount>& gains, Amount need, std::size_t max_bits) {
    const std::size_t n = gains.size();
    largest_.assign(n + 1, 0);
    total_.assign(n + 1, 0);
    divisor_.assign(n + 1, 0);
    for (std::size_t i = n; i-- > 0;) {
        largest_[i] = std::max(largest_[i + 1], gains[i]);
        total_[i] = saturating_add(total_[i + 1], gains[i]);
        divisor_[i] = std::gcd(divisor_[i + 1], gains[i]);
    }
    unit_ = divisor_[0];
    if (unit_ == 0 || need <= 0) return;
    const Amount width = saturating_add(divide_up(need, unit_), largest_[0] / unit_);
    if (width >= static_cast<Amount>(max_bits / (n + 1))) return;

    Bits bits(static_cast<std::size_t>(width) / word_bits + 1, 0);
    bits[0] = 1;
    sums_.assign(n + 1, {});
    sums_[n] = bits;
    for (std::size_t i = n; i-- > 0;) {
        if (gains[i] != 0) or_shifted(bits, static_cast<std::size_t>(gains[i] / unit_));
        sums_[i] = bits;
    }
}

std::optional<Amount> ReachableSums::at_least(std::size_t position, Amount need) const {
    if (need <= 0) return 0;
    if (total_[position] < need) return std::nullopt;
    if (sums_.empty()) {
        const Amount unit = divisor_[position];
        return saturating_multiply(divide_up(need, unit), unit);
    }
    const Bits& bits = sums_[position];
    const auto from = static_cast<std::size_t>(divide_up(need, unit_));
    for (std::size_t i = from / word_bits; i < bits.size(); ++i) {
        std::uint64_t left = bits[i];
        if (i == from / word_bits) left &= ~std::uint64_t{0} << (from % word_bits);
        if (left != 0)
            return static_cast<Amount>(i * word_bits +
                                       static_cast<std::size_t>(std::countr_zero(left))) *
                   unit_;
    }
    return need;  // above what the table holds: the need itself is still a bound
}

namespace {

__extension__ using Wide = __int128;

/// Bits of all tables of one class: 2 MiB.
constexpr std::size_t max_table_bits = std::size_t{1} << 24;

/// One candidate in the order in which the search takes them.
struct Item {
    std::size_t candidate = 0;
    std::size_t rank = 0;        // in the tie rule's order
    std::size_t next_group = 0;  // position of the first item with other gains
    Cost cost;
};

/// part / whole of `amount`, rounded up; 0 < part <= whole.
Amount share_up(Amount amount, Amount part, Amount whole) {
    return static_cast<Amount>((static_cast<Wide>(amount) * part + whole - 1) / whole);
}

}  // namespace

struct CoverSearch::State {
    const Shape& shape;
    const HostOption& option;
    const Objective& objective;
    const std::size_t needs;
    const std::size_t levels;
    Amount slots = 0;

    std::vector<std::size_t> ranking;           // candidates, first to go first
    std::vector<Item> items;                    // by group, then cost, then rank
    std::vector<std::size_t> position_of_rank;  // the inverse
    std::vector<std::size_t> pools_of_need;     // how many providers
    bool several_pools = false;                 // or rules on what comes from where
    bool overfull = false;                      // a provider beside others of its class is
    std::vector<Amount> gain_of;                // by position and need: over its pools
    std::vector<Amount> gain_from;              // by position and need: of all items from there on
    std::vector<Amount> victim_cost;            // by position and level: without waste
    std::vector<bool> counts_victims;           // by level
    std::vector<std::vector<std::size_t>> by_ratio;  // by level and need: positions
    std::vector<std::optional<ReachableSums>> sums;  // by need
    std::vector<Amount> sums_reach;                  // the need they were built for

    ByPool room;                      // with the chosen ones gone
    Cost cost;                        // of the chosen ones, with the base
    std::vector<Amount> lacking;      // by need, at the node
    std::vector<Amount> growth;       // by need, at the node; -1: not known yet
    std::vector<std::size_t> chosen;  // positions
    std::optional<Cost> best_cost;
    std::vector<std::size_t> best_ranks;  // sorted
    std::int64_t* steps = nullptr;
    bool cut = false;
    bool unknown = false;  // whether some set is enough

    State(const Shape& shape_, const HostOption& option_, const Objective& objective_)
        : shape{shape_},
          option{option_},
          objective{objective_},
          needs{shape_.size()},
          levels{objective_.levels.size()},
          ranking{objective_.ranking(option_.candidates)},
          sums(needs),
          sums_reach(needs, -1),
          lacking(needs),
          growth(needs) {
        pools_of_need.assign(needs, 0);
        for (const auto& pool : option.room.pools) ++pools_of_need[pool.need];
        for (std::size_t pool = 0; pool < option.room.pools.size(); ++pool)
            overfull = overfull || (option.room.pools[pool].room < 0 &&
                                    option.room.counts_without_deficit(pool));
        several_pools = option.room.packing != nullptr;
        for (const std::size_t pools : pools_of_need) several_pools = several_pools || pools > 1;
        for (std::size_t level = 0; level < levels; ++level)
            counts_victims.push_back(objective.counts_victims(level));
        list_items();
        tabulate();
    }

    const ByPool& gains(const Item& item) const { return option.candidates[item.candidate].gains; }

    /// Groups: the cheapest for what they give first, where the first level counts victims; else
    /// the largest first.
    void list_items() {
        for (std::size_t rank = 0; rank < ranking.size(); ++rank)
            items.push_back(Item{ranking[rank], rank, 0,
                                 objective.of(option.room, option.candidates[ranking[rank]])});
        std::ranges::sort(items, [&](const Item& a, const Item& b) {
            if (gains(a) != gains(b)) return gains(a) > gains(b);
            if (a.cost != b.cost) return a.cost < b.cost;
            return a.rank < b.rank;
        });
        order_groups();
        position_of_rank.resize(items.size());
        for (std::size_t i = items.size(); i-- > 0;) {
            const bool last = i + 1 == items.size() || gains(items[i]) != gains(items[i + 1]);
            items[i].next_group = last ? i + 1 : items[i + 1].next_group;
            position_of_rank[items[i].rank] = i;
        }
    }

    /// What one item covers of one slot: thousandths, over all needs.
    Amount worth(const Item& item) const {
        Amount sum = 1;
        for (std::size_t pool = 0; pool < option.room.pools.size(); ++pool) {
            const Amount slot = shape[option.room.pools[pool].need].amount;
            sum += static_cast<Amount>(Wide{1000} * std::min(gains(item)[pool], slot) / slot);
        }
        return sum;
    }

    void order_groups() {
        struct Group {
            std::size_t first, last;
            Amount cost, worth;
        };
        std::vector<Group> groups;
        for (std::size_t i = 0; i < items.size();) {
            std::size_t end = i + 1;
            while (end < items.size() && gains(items[end]) == gains(items[i])) ++end;
            groups.push_back({i, end, items[i].cost[0], worth(items[i])});
            i = end;
        }
        const bool by_cost = counts_victims[0];
        std::ranges::stable_sort(groups, [&](const Group& a, const Group& b) {
            if (!by_cost) return a.cost > b.cost;
            return Wide{a.cost} * b.worth < Wide{b.cost} * a.worth;
        });
        std::vector<Item> ordered;
        ordered.reserve(items.size());
        for (const auto& group : groups)
            ordered.insert(ordered.end(), items.begin() + static_cast<std::ptrdiff_t>(group.first),
                           items.begin() + static_cast<std::ptrdiff_t>(group.last));
        items = std::move(ordered);
    }

    void tabulate() {
        const std::size_t n = items.size();
        gain_of.assign(n * needs, 0);
        gain_from.assign((n + 1) * needs, 0);
        for (std::size_t i = n; i-- > 0;) {
            for (std::size_t pool = 0; pool < option.room.pools.size(); ++pool)
                gain_of[i * needs + option.room.pools[pool].need] += gains(items[i])[pool];
            for (std::size_t need = 0; need < needs; ++need)
                gain_from[i * needs + need] =
                    saturating_add(gain_from[(i + 1) * needs + need], gain_of[i * needs + need]);
        }
        victim_cost.assign(n * levels, 0);
        by_ratio.resize(levels * needs);
        for (std::size_t level = 0; level < levels; ++level)
            if (counts_victims[level]) tabulate_victims(level);
    }

    void tabulate_victims(std::size_t level) {
        for (std::size_t i = 0; i < items.size(); ++i) {
            Amount own = items[i].cost[level];
            for (const auto& term : objective.levels[level])
                if (term.measure == Measure::waste)
                    own -= saturating_multiply(term.weight, gain_of[i * needs + term.need]);
            victim_cost[i * levels + level] = std::max<Amount>(own, 0);
        }
        for (std::size_t need = 0; need < needs; ++need) {
            auto& order = by_ratio[level * needs + need];
            for (std::size_t i = 0; i < items.size(); ++i)
                if (gain_of[i * needs + need] > 0) order.push_back(i);
            std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
                return Wide{victim_cost[a * levels + level]} * gain_of[b * needs + need] <
                       Wide{victim_cost[b * levels + level]} * gain_of[a * needs + need];
            });
        }
    }

    void start(Amount slots_) {
        slots = slots_;
        room = option.room.room_now();
        cost = objective.base(shape, option.room, slots);
        chosen.clear();
        best_cost.reset();
        best_ranks.clear();
        cut = unknown = false;
    }

    /// What the class still needs at least, over its providers.
    Amount wanting(std::size_t need) const {
        Amount left = 0;  // free - promised - requested
        for (std::size_t pool = 0; pool < room.size(); ++pool) {
            if (option.room.pools[pool].need != need) continue;
            // An overfull provider beside others is no less than empty of room.
            if (room[pool] >= 0 || pools_of_need[need] == 1)
                left = saturating_add(left, room[pool]);
        }
        left = saturating_subtract(left, option.room.promised[need]);
        left = saturating_subtract(left, saturating_multiply(shape[need].amount, slots));
        return std::max<Amount>(-left, 0);
    }

    /// What is lacking at this node; false if the items from `position` on can't give it.
    bool look(std::size_t position) {
        for (std::size_t need = 0; need < needs; ++need) {
            lacking[need] = wanting(need);
            growth[need] = -1;
            if (lacking[need] > gain_from[position * needs + need]) return false;
        }
        return true;
    }

    /// The least that the class must grow by.
    Amount least_growth(std::size_t position, std::size_t need) {
        if (growth[need] >= 0) return growth[need];
        // What fills up an overfull provider is no growth.
        if (lacking[need] == 0 || overfull) return growth[need] = lacking[need];
        if (sums_reach[need] < lacking[need]) {
            std::vector<Amount> row(items.size());
            for (std::size_t i = 0; i < row.size(); ++i) row[i] = gain_of[i * needs + need];
            const Amount reach = std::max(lacking[need], max_lacking(need));
            sums[need].emplace(row, reach, max_table_bits);
            sums_reach[need] = reach;
        }
        return growth[need] = sums[need]->at_least(position, lacking[need]).value_or(lacking[need]);
    }

    /// At the root: what the class needs, so that one table serves the whole search.
    Amount max_lacking(std::size_t need) const {
        Amount left = 0;
        for (std::size_t pool = 0; pool < room.size(); ++pool)
            if (option.room.pools[pool].need == need)
                left = saturating_add(left, std::max<Amount>(option.room.pools[pool].room, 0));
        return std::max<Amount>(
            saturating_subtract(saturating_multiply(shape[need].amount, slots), left), 0);
    }

    /// The least that victims from `position` on cost in a level, without waste.
    Amount least_victims(std::size_t position, std::size_t level) const {
        Amount most = 0;
        for (std::size_t need = 0; need < needs; ++need) {
            Amount rest = lacking[need];
            if (rest == 0) continue;
            Amount sum = 0;
            for (const std::size_t i : by_ratio[level * needs + need]) {
                if (i < position) continue;
                const Amount gain = gain_of[i * needs + need];
                const Amount own = victim_cost[i * levels + level];
                if (gain >= rest) {
                    sum += share_up(own, rest, gain);
                    break;
                }
                sum += own;
                rest -= gain;
            }
            most = std::max(most, sum);
        }
        return most;
    }

    /// After `look`.
    Amount bound_of_level(std::size_t position, std::size_t level) {
        Amount bound = cost[level];
        for (const auto& term : objective.levels[level])
            if (term.measure == Measure::waste)
                bound +=
                    capped(saturating_multiply(term.weight, least_growth(position, term.need)));
        if (counts_victims[level]) bound += least_victims(position, level);
        return bound;
    }

    Cost bound_from(std::size_t position) {
        Cost bound;
        if (!look(position)) return cost;
        for (std::size_t level = 0; level < levels; ++level)
            bound[level] = bound_of_level(position, level);
        return bound;
    }

    /// Are the slots there? None: a search did not find them, but came to its end. Counts as steps.
    std::optional<bool> fits(const ByPool& pools) {
        PackingWork work;
        const bool all = option.room.fits(shape, pools, slots, &work);
        *steps -= work.steps;
        return work.cut ? std::nullopt : std::optional{all};
    }

    bool enough() {
        if (several_pools) {
            const auto all = fits(room);
            unknown = unknown || !all;
            return all.value_or(false);
        }
        for (std::size_t pool = 0; pool < room.size(); ++pool)
            if (room[pool] < saturating_multiply(shape[option.room.pools[pool].need].amount, slots))
                return false;
        return true;
    }

    bool enough_with_rest(std::size_t position) {
        if (!several_pools) return true;  // `look` has seen to it
        ByPool all = room;
        for (std::size_t i = position; i < items.size(); ++i)
            for (std::size_t pool = 0; pool < all.size(); ++pool)
                all[pool] = saturating_add(all[pool], gains(items[i])[pool]);
        return fits(all).value_or(true);
    }

    std::vector<std::size_t> chosen_ranks() const {
        std::vector<std::size_t> ranks;
        ranks.reserve(chosen.size());
        for (const std::size_t position : chosen) ranks.push_back(items[position].rank);
        std::ranges::sort(ranks);
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

    /// Can this branch still hold the best? After `look`.
    bool worth_a_visit(std::size_t position) {
        if (!best_cost) return true;
        for (std::size_t level = 0; level < levels; ++level) {
            const Amount bound = bound_of_level(position, level);
            if (bound != (*best_cost)[level]) return bound < (*best_cost)[level];
        }
        return may_come_first(position);
    }

    void consider() {
        if (best_cost && cost > *best_cost) return;
        auto ranks = chosen_ranks();
        if (best_cost && cost == *best_cost && ranks >= best_ranks) return;
        best_cost = cost;
        best_ranks = std::move(ranks);
    }

    void add(std::size_t position) {
        choose(position, 1);
        chosen.push_back(position);
    }

    void take_back() {
        const std::size_t position = chosen.back();
        chosen.pop_back();
        choose(position, -1);
    }

    void choose(std::size_t position, Amount sign) {
        const auto& item = items[position];
        const auto fill = [&](Amount times) {
            const auto& candidate = option.candidates[item.candidate];
            const Cost filled = objective.filled_up(option.room, room, candidate);
            for (std::size_t level = 0; level < levels; ++level)
                cost[level] += times * filled[level];
        };
        if (overfull && sign > 0) fill(-1);
        for (std::size_t pool = 0; pool < room.size(); ++pool)
            room[pool] += sign * gains(item)[pool];
        if (overfull && sign < 0) fill(1);
        for (std::size_t level = 0; level < levels; ++level) cost[level] += sign * item.cost[level];
    }

    void visit(std::size_t position) {
        if (enough()) return consider();  // every further victim costs more
        for (bool left_out = false;; left_out = true) {
            if (--*steps < 0) cut = true;
            if (cut || position == items.size() || !look(position) || !worth_a_visit(position) ||
                (left_out && !enough_with_rest(position)))
                return;
            add(position);
            visit(position + 1);
            take_back();
            position = items[position].next_group;
        }
    }

    /// The first items that are enough: a set to begin with, whatever the steps are.
    void take_first() {
        std::size_t least = 0;
        for (std::size_t most = items.size(); least < most;) {
            const std::size_t middle = least + (most - least) / 2;
            while (chosen.size() < middle) add(chosen.size());
            while (chosen.size() > middle) take_back();
            if (enough())
                most = middle;
            else
                least = middle + 1;
        }
        while (chosen.size() < least) add(chosen.size());
        while (chosen.size() > least) take_back();
        if (enough()) consider();
        while (!chosen.empty()) take_back();
    }
};

CoverSearch::CoverSearch(const Shape& shape, const HostOption& option, const Objective& objective)
    : state_{std::make_unique<State>(shape, option, objective)} {}

CoverSearch::~CoverSearch() = default;
CoverSearch::CoverSearch(CoverSearch&&) noexcept = default;

Cost CoverSearch::bound(Amount slots) {
    state_->start(slots);
    return state_->bound_from(0);
}

Cover CoverSearch::best(Amount slots, std::int64_t& steps) {
    Cover cover;
    cover.bound = bound(slots);
    auto& state = *state_;
    state.steps = &steps;
    state.take_first();
    state.visit(0);
    steps = std::max<std::int64_t>(steps, 0);
    cover.cost = state.best_cost.value_or(cover.bound);
    cover.proven = !state.cut && !state.unknown;
    for (const std::size_t rank : state.best_ranks) {
        cover.victims.push_back(state.ranking[rank]);
        if (state.objective.goal->tie != Tie::id)
            cover.checker.push_back(
                state.objective.place(*state.option.candidates[cover.victims.back()].server));
    }
    return cover;
}

}  // namespace reaper

#include "strategies/bounds.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <limits>

namespace reaper {
namespace {

constexpr std::size_t max_table_slots = 64;
constexpr std::size_t entry_bytes = 32 + sizeof(BoundTables::Table::Known);  // with its node

std::uint64_t key_of(std::uint32_t row, std::size_t slots) {
    return std::uint64_t{row} * max_table_slots + slots;
}

}  // namespace

const BoundTables::Table::Known* BoundTables::Table::get(std::uint32_t row, Amount slots) const {
    const auto number = static_cast<std::size_t>(slots);
    if (!may_know(row, number)) return nullptr;
    const auto at = entries.find(key_of(row, number));
    return at != entries.end() && at->second.version == owner->versions_[row] ? &at->second
                                                                              : nullptr;
}

bool BoundTables::Table::set(std::uint32_t row, Amount slots, const Cost& cost,
                             std::int64_t as_of) {
    const auto number = static_cast<std::size_t>(slots);
    if (slots < 1 || number >= max_table_slots || row >= owner->versions_.size()) return false;
    if (!may_know(row, number)) {
        if (!owner->has_room(*this)) return false;
        if (bits.size() <= number) bits.resize(number + 1);
        if (bits[number].size() <= row / 64) bits[number].resize(owner->versions_.size() / 64 + 1);
        bits[number][row / 64] |= std::uint64_t{1} << (row % 64);
    }
    entries[key_of(row, number)] = Known{cost, owner->versions_[row], as_of};
    return true;
}

void BoundTables::changed(std::uint32_t row) {
    if (row >= versions_.size()) versions_.resize(row + 1, 0);
    ++versions_[row];
}

BoundTables::Table& BoundTables::table(const std::string& key) {
    auto at = std::ranges::find(tables_, key, &Table::key);
    if (at == tables_.end()) {
        at = tables_.emplace(tables_.begin());
        at->owner = this;
        at->key = key;
    }
    tables_.splice(tables_.begin(), tables_, at);
    return tables_.front();
}

bool BoundTables::has_room(const Table& user) {
    const std::size_t most = bytes_per_host_ * versions_.size();
    const auto used = [&] {
        std::size_t entries = 1;
        for (const auto& table : tables_) entries += table.entries.size();
        return entries * entry_bytes;
    };
    while (used() > most && &tables_.back() != &user) tables_.pop_back();
    return used() <= most;
}

namespace {

__extension__ using Wide = __int128;

/// a / b rounded up, both above 0: up to 2^50 a division of doubles, which is exact there but
/// for the rounding of the quotient, corrected afterwards. Several times faster than the integer
/// one.
Amount quick_divide_up(Amount a, Amount b) {
    if (a > Amount{1} << 50) return divide_up(a, b);
    auto quotient = static_cast<Amount>(static_cast<double>(a) / static_cast<double>(b));
    if (quotient * b >= a) {
        if ((quotient - 1) * b >= a) --quotient;
        return quotient;
    }
    return quotient + 1;
}

}  // namespace

SketchBounds::SketchBounds(const Shape& shape, const Objective& objective)
    : shape_{shape}, objective_{objective}, wanted_(shape.size(), 0), lack_(shape.size(), 0) {
    now_minutes_ =
        std::chrono::floor<std::chrono::minutes>(objective.now).time_since_epoch().count();
    const auto& work = objective.goal->work_classes;
    for (std::size_t need = 0; need < shape.size(); ++need)
        if (std::ranges::find(work, shape[need].resource_class) != work.end())
            own_needs_.push_back(need);
    work_is_cpu_ = work == cpu_classes();
    for (const auto& terms : objective.levels) {
        Level level;
        for (const auto& term : terms) {
            if (term.measure == Measure::waste)
                level.waste.emplace_back(term.need, term.weight);
            else if (term.measure == Measure::lost_work)
                level.by_work = saturating_add(level.by_work, term.weight);
            else if (term.measure == Measure::fair_share)
                level.by_turn = saturating_add(level.by_turn, term.weight);
            else
                level.by_victim = saturating_add(
                    level.by_victim,
                    saturating_multiply(term.weight, objective.least_value(term.measure)));
        }
        counts_work_ = counts_work_ || level.by_work > 0;
        counts_victims_ = counts_victims_ || level.by_victim > 0 || level.by_turn > 0;
        levels_.push_back(std::move(level));
    }
}

Cost SketchBounds::of(const HostSketch& sketch, Amount slots) {
    Cost bound;
    of(sketch, slots, nullptr, bound);
    return bound;
}

Amount SketchBounds::of_each_victim(const Level& level) const {
    return saturating_add(level.by_victim, saturating_multiply(level.by_turn, turn_));
}

void SketchBounds::ask_for(Amount slots) {
    if (slots == slots_) return;
    slots_ = slots;
    for (std::size_t need = 0; need < wanted_.size(); ++need)
        wanted_[need] = saturating_multiply(shape_[need].amount, slots);
}

bool SketchBounds::of(const HostSketch& sketch, Amount slots, const Cost* worst, Cost& bound) {
    ask_for(slots);
    if (objective_.turns != nullptr) turn_ = objective_.turns->least_on(sketch.row);
    for (std::size_t need = 0; need < lack_.size(); ++need)
        lack_[need] = saturating_subtract(wanted_[need], sketch.needs[need]->room);
    victims_ = -1;
    Amount work = 0;
    // Where work counts, it is looked into as far only as the host may still count: first as if
    // all had started last, then by the curve, then what the other classes take.
    const bool by_own_class = counts_work_ && !own_needs_.empty();
    if (by_own_class && worst != nullptr && above(sketch, own_work(sketch, true), *worst))
        return false;
    if (by_own_class) work = own_work(sketch, false);
    if (worst != nullptr && above(sketch, work, *worst)) return false;
    const bool kinds_known = sketch.kinds != nullptr && sketch.candidates->kinds_known;
    if (kinds_known && of_each_victim(levels_[0]) > 0 && least_victims(sketch) > 1) {
        const Amount number = sketch.kinds->least_number(sketch.candidates->of_kind, lack_);
        if (number > victims_) {
            victims_ = number;
            if (worst != nullptr && above(sketch, work, *worst)) return false;
        }
    }
    const bool one_may_do = counts_victims_ && kinds_known && least_victims(sketch) == 1;
    if (one_may_do && !counts_work_) return look_at_kinds(sketch, work, worst, bound);
    add_up(sketch, work, nullptr, bound);
    const Amount by_own = work;
    if (counts_work_ && work_is_cpu_)
        for (std::size_t need = 0; need < lack_.size(); ++need)
            if (!own(need)) work = std::max(work, least_work(sketch, need));
    if (one_may_do) return look_at_kinds(sketch, work, worst, bound);
    return work == by_own || add_up(sketch, work, worst, bound);
}

/// One victim may do, as far as each class by itself shows: does one that is there? The lesser of
/// what it costs and what two cost at least, which is no less than what `add_up` says of one.
bool SketchBounds::look_at_kinds(const HostSketch& sketch, Amount work, const Cost* worst,
                                 Cost& bound) const {
    const bool one = with_one(sketch, work, worst, bound);
    Cost two;
    if (!add_up(sketch, work, one ? &bound : worst, two, 2)) return one;
    bound = two;
    return true;
}

/// The least that one victim costs, of those that do; false if none does for `worst` or less.
bool SketchBounds::with_one(const HostSketch& sketch, Amount work, const Cost* worst,
                            Cost& least) const {
    bool found = false;
    std::uint64_t left = sketch.kinds->covering(sketch.candidates->kinds, lack_);
    for (; left != 0; left &= left - 1) {
        const Amount* const gains =
            sketch.kinds->of(static_cast<std::size_t>(std::countr_zero(left)));
        const Cost* const limit = found ? &least : worst;
        Cost cost;
        if (!cost_of_one(gains, work, limit, cost)) continue;
        if (!found || cost < least) least = cost;
        found = true;
    }
    return found;
}

/// False as soon as it is above `worst`.
bool SketchBounds::cost_of_one(const Amount* gains, Amount work, const Cost* worst,
                               Cost& cost) const {
    bool level_with_worst = worst != nullptr;
    for (std::size_t i = 0; i < levels_.size(); ++i) {
        const auto& level = levels_[i];
        for (const auto& [need, weight] : level.waste)
            cost[i] += std::clamp(saturating_multiply(weight, gains[need] - lack_[need]),
                                  -1024 * largest_cost, largest_cost);
        cost[i] += capped(of_each_victim(level));
        if (level.by_work > 0) cost[i] += capped(saturating_multiply(level.by_work, work));
        if (!level_with_worst) continue;
        if (cost[i] > (*worst)[i]) return false;
        level_with_worst = cost[i] == (*worst)[i];
    }
    return true;
}

/// No curve is below it.
Amount SketchBounds::quick_work(const NeedSketch& row, Amount lack) const {
    if (lack <= 0 || row.gain <= 0) return 0;
    return capped(saturating_multiply(lack, now_minutes_ - row.latest));
}

bool SketchBounds::own(std::size_t need) const {
    return std::ranges::find(own_needs_, need) != own_needs_.end();
}

/// Of the classes that lost work is measured in: what each loses adds up.
Amount SketchBounds::own_work(const HostSketch& sketch, bool quick) const {
    Amount work = 0;
    for (const std::size_t need : own_needs_)
        work = capped(saturating_add(
            work, quick ? quick_work(*sketch.needs[need], lack_[need]) : least_work(sketch, need)));
    return work;
}

/// The least work that is lost where the class lacks something.
Amount SketchBounds::least_work(const HostSketch& sketch, std::size_t need) const {
    const NeedSketch& row = *sketch.needs[need];
    if (lack_[need] <= 0 || row.gain <= 0) return 0;
    const Amount time = sketch.curves[need]->least(lack_[need], now_minutes_);
    if (own(need)) return capped(time);
    return static_cast<Amount>(std::min(Wide{time} * row.work >> work_bits, Wide{largest_cost}));
}

/// The least victims that make up for what is lacking.
Amount SketchBounds::least_victims(const HostSketch& sketch) const {
    if (victims_ >= 0) return victims_;
    Amount victims = 0;
    for (std::size_t need = 0; need < lack_.size(); ++need) {
        const Amount lack = lack_[need];
        const Amount largest = sketch.needs[need]->largest;
        if (lack <= 0) continue;
        if (largest >= lack)
            victims = std::max<Amount>(victims, 1);
        else if (largest > 0)
            victims = std::max(victims, quick_divide_up(lack, largest));
    }
    return victims_ = victims;
}

/// The bound of a level; `victims`: there are so many at least, if that is more than is known.
Amount SketchBounds::least_of_level(const Level& level, const HostSketch& sketch, Amount work,
                                    Amount victims) const {
    Amount least = 0;
    for (const auto& [need, weight] : level.waste) {
        const Amount lack = lack_[need];
        Amount waste = -lack;
        if (const Amount unit = sketch.needs[need]->unit; lack > 0)
            waste = unit > 1 ? quick_divide_up(lack, unit) * unit - lack : 0;
        least += std::clamp(saturating_multiply(weight, waste), -1024 * largest_cost, largest_cost);
    }
    if (const Amount each = of_each_victim(level); each > 0)
        least += capped(saturating_multiply(each, std::max(victims, least_victims(sketch))));
    if (level.by_work > 0) least += capped(saturating_multiply(level.by_work, work));
    return least;
}

/// Whether the bound is above `worst`: the first levels mostly decide.
bool SketchBounds::above(const HostSketch& sketch, Amount work, const Cost& worst) const {
    for (std::size_t i = 0; i < levels_.size(); ++i) {
        const Amount least = least_of_level(levels_[i], sketch, work, 0);
        if (least != worst[i]) return least > worst[i];
    }
    return false;
}

/// The bound level by level; false as soon as it is above `worst`.
bool SketchBounds::add_up(const HostSketch& sketch, Amount work, const Cost* worst, Cost& bound,
                          Amount victims) const {
    bound = Cost{};
    bool level_with_worst = worst != nullptr;
    for (std::size_t i = 0; i < levels_.size(); ++i) {
        bound[i] = least_of_level(levels_[i], sketch, work, victims);
        if (!level_with_worst) continue;
        if (bound[i] > (*worst)[i]) return false;
        level_with_worst = bound[i] == (*worst)[i];
    }
    return true;
}

std::vector<Amount> SketchBounds::checker(const HostSketch& sketch) const {
    switch (objective_.goal->tie) {
        case Tie::id: return {};
        case Tie::newest:
            return {-std::max(sketch.candidates->newest, -std::numeric_limits<Amount>::max())};
        case Tie::oldest: return {sketch.candidates->oldest};
    }
    return {};
}

}  // namespace reaper

#include "strategies/sketch.hpp"

#include <numeric>
#include <span>
#include <utility>

namespace reaper {
namespace {

/// Weight of a need whose slot takes one unit.
constexpr Amount whole = Amount{1} << 20;
/// Mixes are tried with 0 to 3 parts of each need, up to so many needs.
constexpr Amount max_parts = 3;
constexpr std::size_t max_mixed = 3;

Amount weight_of(Amount parts, Amount slot) {
    return parts == 0 ? 0 : std::max<Amount>(parts * whole / slot, 1);
}

}  // namespace

KindGains::KindGains(std::vector<Amount> gains, const std::vector<Amount>& slot)
    : gains_{std::move(gains)}, steps_{slot.size()} {
    for (std::size_t need = 0; need < slot.size(); ++need) add_steps(need);
    if (std::ranges::any_of(gains_, [](Amount a) { return a > largest_gain; }) || slot.size() > 8)
        return;
    for (std::size_t need = 0; need < slot.size(); ++need) {
        std::vector<Amount> alone(slot.size(), 0);
        alone[need] = 1;
        add_weights(alone);
    }
    if (slot.size() > 1 && slot.size() <= max_mixed) add_weights(best_mix(slot));
}

void KindGains::add_steps(std::size_t need) {
    const std::size_t needs = steps_.size();
    const auto gain = [&](std::size_t kind) { return gains_[kind * needs + need]; };
    std::array<std::size_t, max_kinds> numbers{};
    const std::span<std::size_t> order{numbers.data(), kinds()};
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::sort(order, [&](std::size_t a, std::size_t b) { return gain(a) < gain(b); });
    auto& steps = steps_[need];
    std::uint64_t left =
        order.size() == max_kinds ? ~std::uint64_t{0} : (std::uint64_t{1} << order.size()) - 1;
    for (const std::size_t kind : order) {
        left &= ~(std::uint64_t{1} << kind);
        if (steps.empty() || steps.back().gain != gain(kind))
            steps.push_back(Step{gain(kind), left});
        else
            steps.back().above = left;
    }
}

void KindGains::add_weights(const std::vector<Amount>& weights) {
    Weights made{weights, {}};
    for (std::size_t kind = 0; kind < kinds(); ++kind)
        made.kinds.push_back(
            Weighed{std::inner_product(weights.begin(), weights.end(), of(kind), Amount{0}), kind});
    std::ranges::sort(made.kinds, std::ranges::greater{}, &Weighed::worth);
    weights_.push_back(std::move(made));
}

/// Of all mixes that are tried, the one by which a slot takes the most of the worthiest kind: near
/// the dual of the least number of candidates for a slot.
std::vector<Amount> KindGains::best_mix(const std::vector<Amount>& slot) const {
    std::vector<Amount> best(slot.size(), 0);
    double most = 0;
    std::vector<Amount> parts(slot.size(), 0);
    std::vector<Amount> mix(slot.size(), 0);
    const auto next = [&] {
        std::size_t need = 0;
        while (need < parts.size() && parts[need] == max_parts) parts[need++] = 0;
        if (need < parts.size()) ++parts[need];
        return need < parts.size();
    };
    while (next()) {
        for (std::size_t need = 0; need < slot.size(); ++need)
            mix[need] = weight_of(parts[need], slot[need]);
        Amount worthiest = 1;
        for (std::size_t kind = 0; kind < kinds(); ++kind)
            worthiest = std::max(worthiest,
                                 std::inner_product(mix.begin(), mix.end(), of(kind), Amount{0}));
        const Amount of_slot = std::inner_product(mix.begin(), mix.end(), slot.begin(), Amount{0});
        const double number = static_cast<double>(of_slot) / static_cast<double>(worthiest);
        if (number <= most) continue;
        most = number;
        best = mix;
    }
    return best;
}

Amount KindGains::least_number(const Counts& counts, const std::vector<Amount>& lack) const {
    Amount most = 0;
    if (std::ranges::any_of(lack, [](Amount a) { return a > largest_gain; })) return 0;
    for (const auto& weights : weights_) {
        Amount left = 0;
        for (std::size_t need = 0; need < lack.size(); ++need)
            left += weights.of[need] * std::max<Amount>(lack[need], 0);
        Amount number = 0;
        for (const auto& [worth, kind] : weights.kinds) {
            if (left <= 0 || worth <= 0) break;
            const Amount all = worth * counts[kind];
            number += all < left ? counts[kind] : divide_up(left, worth);
            left -= all;
        }
        most = std::max(most, number);
    }
    return most;
}

}  // namespace reaper

// Kinds of candidates (equal gains in all classes) for one request.
//
// Which of them do alone for what is lacking, a bit for each: sets of kinds by the least gain, for
// each need, so that a few comparisons answer for all kinds at once. O(needs * different gains).
//
// How many candidates it takes at least, out of those that are there: weights make one number of
// all needs (a surrogate constraint, Glover 1968), and the candidates are taken in the order of
// that number, which no set can undercut. Each need for itself, and the one mix of needs that asks
// for the most candidates a slot, are such weights. O(weights * kinds).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "reaper/model/amount.hpp"

namespace reaper {

class KindGains {
public:
    static constexpr std::size_t max_kinds = 64;

    KindGains() = default;
    /// Gains by kind, then need, of at most `most_kinds` kinds; what one slot takes, by need.
    KindGains(std::vector<Amount> gains, const std::vector<Amount>& slot);

    bool empty() const { return gains_.empty(); }
    /// By need.
    const Amount* of(std::size_t kind) const { return &gains_[kind * steps_.size()]; }

    /// Those of these kinds that gain at least so much of every need.
    std::uint64_t covering(std::uint64_t kinds, const std::vector<Amount>& lack) const {
        for (std::size_t need = 0; need < steps_.size(); ++need) {
            std::uint64_t enough = ~std::uint64_t{0};
            for (const auto& step : steps_[need])
                enough = step.gain < lack[need] ? step.above : enough;
            kinds &= enough;
        }
        return kinds;
    }

    /// How many candidates there are of each kind.
    using Counts = std::array<std::uint8_t, max_kinds>;
    /// No fewer of these gain so much of every need.
    Amount least_number(const Counts& counts, const std::vector<Amount>& lack) const;

private:
    /// Numbers of this size times a weight, added up over some needs, are no overflow.
    static constexpr Amount largest_gain = Amount{1} << 36;
    struct Weighed {
        Amount worth = 0;
        std::size_t kind = 0;
    };
    struct Weights {
        std::vector<Amount> of;      // by need
        std::vector<Weighed> kinds;  // the most worth first
    };
    void add_steps(std::size_t need);
    void add_weights(const std::vector<Amount>& weights);
    std::vector<Amount> best_mix(const std::vector<Amount>& slot) const;
    std::size_t kinds() const { return steps_.empty() ? 0 : gains_.size() / steps_.size(); }

    struct Step {
        Amount gain = 0;
        std::uint64_t above = 0;  // kinds that gain more
    };
    std::vector<Amount> gains_;
    std::vector<std::vector<Step>> steps_;  // by need: the different gains, ascending
    std::vector<Weights> weights_;          // none where numbers are too large
};

}  // namespace reaper

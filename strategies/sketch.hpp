// A sketch of a host: what is known of it for one request without looking at its servers. Enough
// for lower bounds of what slots there cost, so that few hosts are ever searched.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "reaper/model/resources.hpp"

namespace reaper {

// Kinds of candidates (equal gains in all classes) for one request.
//
// Which of them do alone for what is lacking, a bit for each: sets of kinds by the least gain, for
// each need, so that a few comparisons answer for all kinds at once. O(needs * different gains).
//
// How many candidates it takes at least, out of those that are there: weights make one number of
// all needs (a surrogate constraint, Glover 1968), and the candidates are taken in the order of
// that number, which no set can undercut. Each need for itself, and the one mix of needs that asks
// for the most candidates a slot, are such weights. O(weights * kinds).

class KindGains {
public:
    static constexpr std::size_t max_kinds = 64;

    KindGains() = default;
    /// Gains by kind, then need, of at most `most_kinds` kinds; what one slot takes, by need.
    KindGains(std::vector<Amount> gains, const std::vector<Amount>& slot);

    bool empty() const { return gains_.empty(); }
    /// By need.
    const Amount* of(std::size_t kind) const { return &gains_[kind * steps_.size()]; }

    /// Those of these kinds that gain at least this much of every need.
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
    /// The least number of these that gains this much of every need.
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

/// `NeedSketch::work` is a fraction with so many bits behind its point.
inline constexpr int work_bits = 16;

/// The least running time that gains of one class cost, as a convex curve: candidates in the order
/// of their starts, the last started first. Sampled at some numbers of candidates; in between, the
/// gain counts as that of the candidate that started last. Minutes UTC, starts rounded up.
struct WorkCurve {
    static constexpr std::size_t points = 6;
    std::array<Amount, points> gain{};        ///< of the first candidates together
    std::array<Amount, points> started{};     ///< sum over them of gain times start
    std::array<std::int32_t, points> next{};  ///< start of the candidate after them
    Amount idle = 0;                          ///< gain of those that lose no work, in no point

    /// Least sum of gain times running time for this gain; never above the true one.
    Amount least(Amount wanted, Amount now) const {
        wanted = saturating_subtract(wanted, idle);
        if (wanted <= 0) return 0;
        // The last sampled point below what is wanted, and the rest at the next one's price.
        std::size_t at = 0;
        while (at + 1 < points && gain[at + 1] > gain[at] && gain[at + 1] <= wanted) ++at;
        const Amount before = saturating_subtract(saturating_multiply(gain[at], now), started[at]);
        const Amount rest = saturating_multiply(wanted - gain[at], now - next[at]);
        return std::max<Amount>(saturating_add(before, std::max<Amount>(rest, 0)), 0);
    }
};

/// One class on one host, the candidates being its revocable servers that may go. Exact where one
/// provider has the class.
struct NeedSketch {
    Amount room = 0;     ///< free, promised room taken off; may be negative
    Amount gain = 0;     ///< of all candidates together
    Amount largest = 0;  ///< gain of one candidate
    Amount unit = 0;     ///< every gain is a multiple of it; 0 if there is none
    /// Least processors (VCPU and PCPU) for each unit of gain over the candidates, times
    /// 2^work_bits, rounded down.
    std::uint32_t work = 0;
    /// Start of the candidate with a gain that started last, minutes UTC; of one that loses no
    /// work, the end of time.
    std::int32_t latest = 0;
};

/// The candidates together.
struct CandidateSketch {
    Amount newest = 0;  ///< latest and earliest creation
    Amount oldest = 0;
    /// Which of the cloud's kinds of candidates (equal gains in all classes) there are, a bit each.
    std::uint64_t kinds = 0;
    bool kinds_known = false;     ///< false: there are others too
    KindGains::Counts of_kind{};  ///< how many of each of these
};

/// Points into the cloud's rows: what is not looked at costs nothing.
struct HostSketch {
    std::vector<const NeedSketch*> needs;         ///< by need; none is null
    std::vector<const WorkCurve*> curves;         ///< by need; null or all zero without candidates
    const CandidateSketch* candidates = nullptr;  ///< never null
    const KindGains* kinds = nullptr;             ///< null if none is known
    /// What is known from earlier decisions: key of the table of bounds, or none.
    std::uint32_t row = no_row;
    static constexpr std::uint32_t no_row = 0xffffffff;
};

}  // namespace reaper

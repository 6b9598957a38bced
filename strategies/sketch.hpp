// A sketch of a host: what is known of it for one request without looking at its servers. Enough
// for lower bounds of what slots there cost, so that few hosts are ever searched.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "reaper/model/amount.hpp"
#include "strategies/kind_gains.hpp"

namespace reaper {

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

    /// Least sum of gain times running time for so much gain; never above the true one.
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

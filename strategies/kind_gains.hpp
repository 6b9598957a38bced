// Kinds of candidates (equal gains in all classes) for one request: which of them do for what is
// lacking, a bit for each. Sets of kinds by the least gain, for each need, so that a few
// comparisons answer for all kinds at once. O(needs * different gains) for each question.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "reaper/model/amount.hpp"

namespace reaper {

class KindGains {
public:
    static constexpr std::size_t most_kinds = 64;

    KindGains() = default;
    /// By kind, then need; at most `most_kinds` kinds.
    KindGains(std::vector<Amount> gains, std::size_t needs);

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

private:
    struct Step {
        Amount gain = 0;
        std::uint64_t above = 0;  // kinds that gain more
    };
    std::vector<Amount> gains_;
    std::vector<std::vector<Step>> steps_;  // by need: the different gains, ascending
};

}  // namespace reaper

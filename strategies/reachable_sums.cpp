#include "strategies/reachable_sums.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

#include "reaper/model/amount.hpp"

namespace reaper {
namespace {

constexpr std::size_t word = 64;

/// bits |= bits << by, within the width of `bits`.
void or_shifted(std::vector<std::uint64_t>& bits, std::size_t by) {
    const std::size_t words = by / word;
    const std::size_t rest = by % word;
    for (std::size_t i = bits.size(); i-- > words;) {
        std::uint64_t shifted = bits[i - words] << rest;
        if (rest != 0 && i > words) shifted |= bits[i - words - 1] >> (word - rest);
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

    Bits bits(static_cast<std::size_t>(width) / word + 1, 0);
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
    for (std::size_t i = from / word; i < bits.size(); ++i) {
        std::uint64_t left = bits[i];
        if (i == from / word) left &= ~std::uint64_t{0} << (from % word);
        if (left != 0)
            return static_cast<Amount>(i * word +
                                       static_cast<std::size_t>(std::countr_zero(left))) *
                   unit_;
    }
    return need;  // above what the table holds: the need itself is still a bound
}

}  // namespace reaper

#include "strategies/kind_gains.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <span>
#include <utility>

namespace reaper {

KindGains::KindGains(std::vector<Amount> gains, std::size_t needs)
    : gains_{std::move(gains)}, steps_{needs} {
    const std::size_t kinds = needs == 0 ? 0 : gains_.size() / needs;
    std::array<std::size_t, most_kinds> numbers{};
    const std::span<std::size_t> order{numbers.data(), kinds};
    for (std::size_t need = 0; need < needs; ++need) {
        const auto gain = [&](std::size_t kind) { return gains_[kind * needs + need]; };
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::sort(order.begin(), order.end(),
                  [&](std::size_t a, std::size_t b) { return gain(a) < gain(b); });
        auto& steps = steps_[need];
        std::uint64_t left =
            kinds == most_kinds ? ~std::uint64_t{0} : (std::uint64_t{1} << kinds) - 1;
        for (const std::size_t kind : order) {
            left &= ~(std::uint64_t{1} << kind);
            if (steps.empty() || steps.back().gain != gain(kind))
                steps.push_back(Step{gain(kind), left});
            else
                steps.back().above = left;
        }
    }
}

}  // namespace reaper

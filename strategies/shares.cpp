#include "strategies/shares.hpp"

#include <algorithm>
#include <cstdint>

namespace reaper {
namespace {

/// a + b < c, level by level.
bool less(const Cost& a, const Cost& b, const Cost& c) {
    for (std::size_t i = 0; i < max_levels; ++i) {
        const Amount sum = saturating_add(a[i], b[i]);
        if (sum != c[i]) return sum < c[i];
    }
    return false;
}

}  // namespace

Shares::Shares(std::vector<ShareChoices> choices, std::size_t slots)
    : choices_{std::move(choices)}, slots_{slots} {
    tabulate();
}

void Shares::tabulate() {
    costs_.assign(slots_ + 1, std::nullopt);
    costs_[0] = Cost{};
    picked_.assign(choices_.size(), {});
    std::size_t reach = 0;  // slots that the hosts so far can give
    for (std::size_t i = 0; i < choices_.size(); ++i) {
        const auto& costs = choices_[i].costs;
        auto& picked = picked_[i];
        picked.assign(slots_ + 1, 0);
        reach = std::min(slots_, reach + costs.size());
        for (std::size_t slots = reach; slots > 0; --slots)
            for (std::size_t extra = 1; extra <= std::min(costs.size(), slots); ++extra) {
                if (!costs[extra - 1] || !costs_[slots - extra]) continue;
                if (costs_[slots] &&
                    !less(*costs_[slots - extra], *costs[extra - 1], *costs_[slots]))
                    continue;
                costs_[slots] = *costs_[slots - extra] + *costs[extra - 1];
                picked[slots] = static_cast<std::uint16_t>(extra);
            }
    }
}

std::optional<Cost> Shares::cost(std::size_t slots) const {
    return slots < costs_.size() ? costs_[slots] : std::nullopt;
}

std::vector<Share> Shares::best(std::size_t slots) const {
    std::vector<Share> shares;
    for (std::size_t i = choices_.size(); i-- > 0 && slots > 0;) {
        const std::size_t extra = picked_[i][slots];
        if (extra == 0) continue;
        shares.push_back(Share{choices_[i].host, extra});
        slots -= extra;
    }
    return shares;
}

}  // namespace reaper

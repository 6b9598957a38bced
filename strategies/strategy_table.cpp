#include "strategies/strategy_table.hpp"

#include <algorithm>
#include <utility>

namespace reaper {

namespace {

std::deque<StrategyInfo>& all_strategies() {
    static std::deque<StrategyInfo> table{
        cost_strategy(),
        strict_strategy(),
        strict_time_strategy(),
        chance_strategy(),
    };
    return table;
}

}  // namespace

const std::deque<StrategyInfo>& strategy_table() {
    return all_strategies();
}

void add_strategy(StrategyInfo info) {
    all_strategies().push_back(std::move(info));
}

const StrategyInfo* find_strategy(std::string_view name) {
    const auto& table = strategy_table();
    const auto at = std::ranges::find(table, name, &StrategyInfo::name);
    return at == table.end() ? nullptr : &*at;
}

}  // namespace reaper

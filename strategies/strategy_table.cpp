#include "strategies/strategy_table.hpp"

#include <algorithm>

#include "strategies/builtin.hpp"

namespace reaper {

const std::vector<StrategyInfo>& strategy_table() {
    static const std::vector<StrategyInfo> table{
        cost_strategy(),
        strict_strategy(),
        strict_time_strategy(),
        chance_strategy(),
    };
    return table;
}

const StrategyInfo* find_strategy(std::string_view name) {
    const auto& table = strategy_table();
    const auto at = std::find_if(table.begin(), table.end(),
                                 [&](const StrategyInfo& info) { return info.name == name; });
    return at == table.end() ? nullptr : &*at;
}

}  // namespace reaper

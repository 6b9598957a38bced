// The strategies that there are; each is one file.
#pragma once

#include "strategies/strategy_table.hpp"

namespace reaper {

StrategyInfo chance_strategy();
StrategyInfo cost_strategy();
StrategyInfo strict_strategy();
StrategyInfo strict_time_strategy();

}  // namespace reaper

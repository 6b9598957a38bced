#include "reaper/oversubscription/estimator_table.hpp"

#include <algorithm>

#include "reaper/oversubscription/builtin.hpp"

namespace reaper {

const std::vector<EstimatorInfo>& estimator_table() {
    static const std::vector<EstimatorInfo> table{
        noop_estimator(),
        fixed_estimator(),
        usage_slack_estimator(),
    };
    return table;
}

const EstimatorInfo* find_estimator(std::string_view name) {
    const auto& table = estimator_table();
    const auto at = std::find_if(table.begin(), table.end(),
                                 [&](const EstimatorInfo& info) { return info.name == name; });
    return at == table.end() ? nullptr : &*at;
}

}  // namespace reaper

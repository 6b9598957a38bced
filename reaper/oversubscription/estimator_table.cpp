#include "reaper/oversubscription/estimator_table.hpp"

#include <algorithm>
#include <utility>

#include "reaper/oversubscription/builtin.hpp"

namespace reaper {

namespace {

std::deque<EstimatorInfo>& all_estimators() {
    static std::deque<EstimatorInfo> table{
        noop_estimator(),
        fixed_estimator(),
        usage_slack_estimator(),
    };
    return table;
}

}  // namespace

const std::deque<EstimatorInfo>& estimator_table() {
    return all_estimators();
}

void add_estimator(EstimatorInfo info) {
    all_estimators().push_back(std::move(info));
}

const EstimatorInfo* find_estimator(std::string_view name) {
    const auto& table = estimator_table();
    const auto at = std::find_if(table.begin(), table.end(),
                                 [&](const EstimatorInfo& info) { return info.name == name; });
    return at == table.end() ? nullptr : &*at;
}

}  // namespace reaper

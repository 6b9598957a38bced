#include "reaper/oversubscription/plugin_tables.hpp"

#include <algorithm>
#include <utility>

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
    const auto at = std::ranges::find(table, name, &EstimatorInfo::name);
    return at == table.end() ? nullptr : &*at;
}

namespace {

std::deque<QosInfo>& all_controllers() {
    static std::deque<QosInfo> table{
        noop_qos(),
        load_qos(),
        pressure_qos(),
    };
    return table;
}

}  // namespace

const std::deque<QosInfo>& qos_table() {
    return all_controllers();
}

void add_qos(QosInfo info) {
    all_controllers().push_back(std::move(info));
}

const QosInfo* find_qos(std::string_view name) {
    const auto& table = qos_table();
    const auto at = std::ranges::find(table, name, &QosInfo::name);
    return at == table.end() ? nullptr : &*at;
}

}  // namespace reaper

#include "reaper/oversubscription/qos_table.hpp"

#include <algorithm>
#include <utility>

#include "reaper/oversubscription/builtin.hpp"

namespace reaper {

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
    const auto at = std::find_if(table.begin(), table.end(),
                                 [&](const QosInfo& info) { return info.name == name; });
    return at == table.end() ? nullptr : &*at;
}

}  // namespace reaper

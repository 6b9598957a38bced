#include "reaper/oversubscription/qos_table.hpp"

#include <algorithm>

#include "reaper/oversubscription/builtin.hpp"

namespace reaper {

const std::vector<QosInfo>& qos_table() {
    static const std::vector<QosInfo> table{
        noop_qos(),
        load_qos(),
        pressure_qos(),
    };
    return table;
}

const QosInfo* find_qos(std::string_view name) {
    const auto& table = qos_table();
    const auto at = std::find_if(table.begin(), table.end(),
                                 [&](const QosInfo& info) { return info.name == name; });
    return at == table.end() ? nullptr : &*at;
}

}  // namespace reaper

#include "tagging/tagger_table.hpp"

#include <algorithm>

#include "tagging/builtin.hpp"

namespace reaper {

const std::vector<TaggerInfo>& tagger_table() {
    static const std::vector<TaggerInfo> table{
        project_tagger(),
        resource_tagger(),
        flavor_tagger(),
    };
    return table;
}

const TaggerInfo* find_tagger(std::string_view name) {
    const auto& table = tagger_table();
    const auto at = std::find_if(table.begin(), table.end(),
                                 [&](const TaggerInfo& info) { return info.name == name; });
    return at == table.end() ? nullptr : &*at;
}

}  // namespace reaper

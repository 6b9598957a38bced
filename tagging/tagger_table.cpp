#include "tagging/tagger_table.hpp"

#include <algorithm>
#include <utility>

#include "tagging/builtin.hpp"

namespace reaper {

namespace {

std::deque<TaggerInfo>& all_taggers() {
    static std::deque<TaggerInfo> table{
        project_tagger(),
        resource_tagger(),
        flavor_tagger(),
    };
    return table;
}

}  // namespace

const std::deque<TaggerInfo>& tagger_table() {
    return all_taggers();
}

void add_tagger(TaggerInfo info) {
    all_taggers().push_back(std::move(info));
}

const TaggerInfo* find_tagger(std::string_view name) {
    const auto& table = tagger_table();
    const auto at = std::find_if(table.begin(), table.end(),
                                 [&](const TaggerInfo& info) { return info.name == name; });
    return at == table.end() ? nullptr : &*at;
}

}  // namespace reaper

#include "reaper/model/name_list.hpp"

#include "reaper/model/text.hpp"

namespace reaper {

std::string name_list(const std::set<std::string>& names) {
    constexpr std::size_t most = 10;
    std::string text;
    std::size_t told = 0;
    for (const std::string& name : names) {
        if (told == most) return text + " and " + std::to_string(names.size() - most) + " more";
        text += (told++ == 0 ? "" : ", ") + in_quotes(name);
    }
    return text.empty() ? "none" : text;
}

}  // namespace reaper

#include "reaper/model/res_type.hpp"

namespace reaper {

std::string_view to_string(ResType type) {
    return type == ResType::regular ? "regular" : "revocable";
}

std::optional<ResType> res_type_from(std::string_view text) {
    for (const ResType type : {ResType::regular, ResType::revocable})
        if (text == to_string(type)) return type;
    return std::nullopt;
}

ResType other_than(ResType type) {
    return type == ResType::regular ? ResType::revocable : ResType::regular;
}

std::string to_string(const Phases& phases) {
    return (phases.both ? "~" : "") + std::string{to_string(phases.first)};
}

std::optional<Phases> phases_from(std::string_view text) {
    const bool both = text.starts_with('~');
    const auto first = res_type_from(both ? text.substr(1) : text);
    if (!first) return std::nullopt;
    return Phases{*first, both};
}

std::optional<ResType> declared_type(const std::set<Trait>& traits) {
    const bool regular = traits.contains(regular_trait);
    if (regular == traits.contains(revocable_trait)) return std::nullopt;
    return regular ? ResType::regular : ResType::revocable;
}

ResourceClass stands_for(const ResourceClass& revocable_class) {
    constexpr std::string_view prefix = "CUSTOM_REVOCABLE_";
    const std::string_view name = revocable_class.str();
    if (!name.starts_with(prefix)) return {};
    return ResourceClass{std::string{name.substr(prefix.size())}};
}

}  // namespace reaper

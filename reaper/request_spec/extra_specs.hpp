// The extra specs of a flavor that name resources and traits, in groups.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "reaper/model/resources.hpp"

namespace reaper {

using ExtraSpecs = std::map<std::string, std::string>;

/// A key `prefix[GROUP]:NAME` taken apart, with GROUP of 1 to 64 letters, digits, `_` and `-`.
struct GroupedKey {
    std::string_view group;  ///< empty for the unnumbered group
    std::string_view name;
};
std::optional<GroupedKey> grouped_key(std::string_view key, std::string_view prefix);

/// Does Nova take `resources:NAME` for a class? One of Placement's own, or CUSTOM_ and anything.
bool is_resource_class(std::string_view name);

/// `CUSTOM_` and the name in capitals, `_` for whatever is neither letter nor digit. Source:
/// os_resource_classes.normalize_name, and that of os_traits.
std::string custom_name(std::string_view name);

/// A whole number of 0 or more, blanks around it allowed; one that is too large is the largest.
std::optional<Amount> amount_of(std::string_view text);

}  // namespace reaper

// The extra specs of a flavor that decide what Placement is asked for.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <variant>

#include "reaper/model/resources.hpp"
#include "reaper/request_spec/request_builder.hpp"

namespace reaper {

using ExtraSpecs = std::map<std::string, std::string>;

/// A key `prefix[GROUP]:NAME` taken apart, with GROUP of 1 to 64 letters, digits, `_` and `-`.
struct GroupedKey {
    std::string_view group;  ///< empty for the unnumbered group
    std::string_view name;
};
std::optional<GroupedKey> grouped_key(std::string_view key, std::string_view prefix);

/// The amount of `resources[GROUP]:CLASS=VALUE`; none if class or amount can't be one.
std::optional<Amount> amount_spec(const GroupedKey& key, std::string_view value);
/// What to say then.
Refused not_an_amount(std::string_view key, std::string_view value);

/// Adds what `trait[GROUP]:NAME=VALUE` says. Other values than required and forbidden count for
/// nothing, as in Nova.
void read_trait(const GroupedKey& key, std::string_view value, std::set<Trait>& required,
                std::set<Trait>& forbidden);

/// `resources[GROUP]:CLASS=n` of all groups, by class, summed; zeros are kept: they remove what the
/// flavor would ask for. Refused if a class or an amount can't be one.
std::variant<std::map<ResourceClass, Amount>, Refused> resource_overrides(const ExtraSpecs& specs);

/// The traits that `trait:NAME` requires or forbids: those of no group.
void read_traits(const ExtraSpecs& specs, std::set<Trait>& required, std::set<Trait>& forbidden);

}  // namespace reaper

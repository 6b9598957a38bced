// Granular groups of a request, as Placement knows them (`resources1`, `required1`, ...): all of a
// group comes from one resource provider. What is in no group may come from several, each class
// from one.
//
// Source: Placement's GET /allocation_candidates; Nova fills groups in from a flavor's extra specs
// (`resources1:VGPU=1`, `trait1:CUSTOM_X=required`, `group_policy=isolate`).
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "reaper/model/ids.hpp"
#include "reaper/model/resources.hpp"

namespace reaper {

struct RequestGroup {
    std::string suffix;  ///< what stands after `resources`: `1`, `_GPU`; never empty
    Resources resources;
    std::set<Trait> required_traits;  ///< the provider has them all
    std::set<Trait> forbidden_traits;
    /// The provider itself is in one aggregate (by UUID) of each set.
    std::vector<std::set<std::string>> aggregates;
    ProviderId in_tree;  ///< its tree has this provider; empty: any

    friend bool operator==(const RequestGroup&, const RequestGroup&) = default;
};

/// May several groups of one slot come from one provider?
enum class GroupPolicy { none, isolate };

std::string_view to_string(GroupPolicy policy);
/// The inverse; none for any other text.
std::optional<GroupPolicy> group_policy_from(std::string_view text);

/// Of all groups together.
Resources sum_of(const std::vector<RequestGroup>& groups);

/// For people: `1: VGPU=1 with CUSTOM_X without CUSTOM_Y`.
std::string to_string(const RequestGroup& group);

/// For people: the groups, and that they exclude each other where they do; empty if there are none.
std::string groups_text(const std::vector<RequestGroup>& groups,
                        const std::optional<GroupPolicy>& policy);

}  // namespace reaper

// The granular groups that a flavor's extra specs ask for. Source: nova's ResourceRequest.
#pragma once

#include <optional>
#include <variant>
#include <vector>

#include "reaper/model/refused.hpp"
#include "reaper/model/request.hpp"
#include "reaper/request_spec/extra_specs.hpp"

namespace reaper {

struct FlavorGroups {
    std::vector<RequestGroup> groups;  ///< by suffix; each asks for something
    std::optional<GroupPolicy> policy;
    friend bool operator==(const FlavorGroups&, const FlavorGroups&) = default;
};

/// `resourcesS:CLASS=n`, `traitS:NAME=required|forbidden` by suffix S, and `group_policy`. Groups
/// that ask for nothing are left out, as in Nova; so is a policy that Nova does not know. Refused:
/// an amount that is none.
std::variant<FlavorGroups, Refused> groups_of(const ExtraSpecs& specs);

/// Why Placement would not even search for such a request, whatever room there is: several groups
/// without a policy, traits for which no resources are asked. None if it would.
std::optional<Refused> refused_by_placement(const Request& request);

}  // namespace reaper

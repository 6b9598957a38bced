// A flavor's wish on what its host's aggregates say (Nova's filter AggregateInstanceExtraSpecs).
//
// Source: nova.scheduler.filters.extra_specs_ops and aggregate_instance_extra_specs.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "reaper/model/placement_constraints.hpp"

namespace reaper {

/// Does a value of an aggregate meet a wish? The wish is a text that has to be the same, or begins
/// with an operator: `=` (at least), `==`, `!=`, `>=`, `<=` for numbers; `s==`, `s!=`, `s<`, `s<=`,
/// `s>`, `s>=` for texts; `<in>` and `<all-in>` for parts of the value; `<or> a <or> b`. What
/// should be a number and is none is not met.
bool meets(std::string_view value, std::string_view wish);

/// The first wish of `extra_specs` (keys without a scope, or of `aggregate_instance_extra_specs:`)
/// that no aggregate meets, as `key=wish`; none if all are met. An aggregate's value may be
/// several, with commas between them.
std::optional<std::string> unmet_spec(const std::map<std::string, std::string>& extra_specs,
                                      const HostAggregates& aggregates);

}  // namespace reaper

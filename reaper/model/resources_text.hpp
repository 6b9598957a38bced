// Resources as people write them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reaper/model/error.hpp"
#include "reaper/model/resources.hpp"

namespace reaper {

/// What Placement keeps of one class at most, as capacity or held by one consumer.
inline constexpr Amount max_placement_amount = 2'147'483'647;

/// `VCPU=4,MEMORY_MB=2048` or, as Placement writes it, `VCPU:4,MEMORY_MB:2048`: classes as
/// Placement names them, amounts from 1 to `max_placement_amount`, no class twice. `bad_input` says
/// what was expected.
Result<Resources> parse_resources(std::string_view text);
/// The inverse, in Placement's form.
std::string written(const Resources& resources);

/// What people write for a class of these: `; did you mean 'MEMORY_MB'?` for `MEMORY` or `RAM`, or
/// for a typing error; empty if none is near.
std::string meant_class(std::string_view written, const std::vector<std::string>& known);

/// What os-resource-classes and os-traits allow in a name: upper-case letters, digits and `_`.
bool is_upper_name(std::string_view text);

}  // namespace reaper

// Resources as people write them.
#pragma once

#include <string_view>

#include "reaper/model/error.hpp"
#include "reaper/model/resources.hpp"

namespace reaper {

/// `VCPU=4,MEMORY_MB=2048` or, as Placement writes it, `VCPU:4,MEMORY_MB:2048`: classes as
/// Placement names them, amounts above 0, no class twice. `bad_input` says what was expected.
Result<Resources> parse_resources(std::string_view text);

/// What os-resource-classes and os-traits allow in a name: capital letters, digits and `_`.
bool is_upper_name(std::string_view text);

}  // namespace reaper

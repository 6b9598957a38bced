// Nova's lists of CPUs in extra specs.
#pragma once

#include <optional>
#include <set>
#include <string_view>

namespace reaper {

/// A set of CPU numbers as Nova writes it: `0-3,^2,8`. None if it can't be understood, is empty, or
/// names a CPU above 65535. Source: nova.virt.hardware.parse_cpu_spec.
std::optional<std::set<int>> parse_cpu_list(std::string_view text);

}  // namespace reaper

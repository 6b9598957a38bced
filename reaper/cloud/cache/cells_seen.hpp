// Does Nova have several cells? Its API does not say, but its databases number compute services
// and hypervisors, and each cell has a database of its own: what has the same number is in
// different cells. Which host is in which cell can't be determined so, nor that there is only one.
// Pure.
#pragma once

#include <optional>
#include <string>

#include "reaper/model/records.hpp"

namespace reaper {

/// `compute services of 'a' and 'b' have the same number, 3, which a cell gives once`; none if
/// nothing of the kind shows.
std::optional<std::string> why_several_cells(const HostNumbers& numbers);

}  // namespace reaper

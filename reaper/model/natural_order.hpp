// The order of names as people count: host-2 before host-10.
#pragma once

#include <string_view>

namespace reaper {

/// Numbers in names compare by their values; equal otherwise, as text.
bool natural_less(std::string_view a, std::string_view b);

}  // namespace reaper

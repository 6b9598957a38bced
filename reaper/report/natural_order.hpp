// The order of names in lists.
#pragma once

#include "reaper/model/natural_order.hpp"

namespace reaper::report {

using reaper::natural_less;

}  // namespace reaper::report

// The table at the end.
#pragma once

#include <string>

#include "faults/schedules/checker.hpp"

namespace reaper::faults {

std::string table_of(const Tally& tally, std::uint64_t failed, double elapsed_s);

}  // namespace reaper::faults

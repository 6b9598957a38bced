// One schedule from its start to its judgement.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "faults/schedules/checker.hpp"
#include "faults/schedules/plan.hpp"

namespace reaper::faults {

struct ScheduleResult {
    std::vector<std::string> violations;
    std::uint64_t trace_hash = 0;
    Duration virtual_time{};
};

/// Items whose numbers are in `without` do not happen.
ScheduleResult run_schedule(const SchedulePlan& plan, const std::set<std::size_t>& without,
                            bool verbose, Tally& tally);

}  // namespace reaper::faults

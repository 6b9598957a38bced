// When nothing that the plan has may hinder the reaper: what it could not do then is its own fault.
#pragma once

#include "faults/schedules/plan.hpp"

namespace reaper::faults {

class Calm {
public:
    /// `began`: the schedule. The plan must outlive it.
    Calm(const SchedulePlan& plan, TimePoint began) : plan_(plan), began_(began) {}

    /// From `since` to `until` all was well: no fault of the network or of the reaper's machine,
    /// and no change of what is revocable. The reaper recovers from these after a while.
    bool all_of(TimePoint since, TimePoint until) const;
    /// Cached data is read again, retries are over.
    static constexpr Duration recovered_after = std::chrono::seconds{75};

private:
    const SchedulePlan& plan_;
    TimePoint began_;
};

}  // namespace reaper::faults

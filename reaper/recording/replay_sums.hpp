// A replay in figures: by day and in all, as it was recorded and as it would be.
#pragma once

#include <chrono>
#include <map>
#include <string>

#include "reaper/recording/replay.hpp"

namespace reaper::recording {

/// Of one side.
struct ReplaySums {
    int requests = 0;  ///< that could be decided
    int helped = 0;    ///< all slots are there, or would be
    int culls = 0;     ///< of these, by deleting servers
    int refused = 0;   ///< revocable requesters, and what no room can help
    int victims = 0;
    double lost_hours = 0;
    double lost_vcpu_hours = 0;
    std::map<std::string, int> safeguards;  ///< not helped, by what prevented it

    int not_helped() const { return requests - helped - refused; }
    void add(const Choice& choice);
};

struct BothSums {
    ReplaySums recorded, asked;
    void add(const ReplayedRequest& request);
};

using ByDay = std::map<std::chrono::sys_days, BothSums>;  ///< UTC
ByDay by_day(const Replay& replay);
BothSums in_all(const Replay& replay);

}  // namespace reaper::recording

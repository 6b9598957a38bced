// What limits would have stopped of a week of plans: of a dry run nothing is deleted, so that
// nothing counts against them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "reaper/model/request.hpp"
#include "reaper/model/time.hpp"
#include "reaper/safeguards/settings.hpp"

namespace reaper::recording {

/// A request for which servers would have gone.
struct PlannedHarm {
    const Request* request = nullptr;
    TimePoint at{};
    int victims = 0;
};

struct StoppedByLimits {
    std::map<std::string, int> requests;  ///< by safeguard
    int victims = 0;                      ///< of these
    int largest = 0;                      ///< victims of one request, stopped or not
    int revocable = 0;                    ///< servers by which shares are counted
};

/// `planned` by time; `revocable`: servers of which shares are, as far as plans show, so that more
/// may be stopped here than would have been.
StoppedByLimits stopped_by(const LimitSettings& limits, const std::vector<PlannedHarm>& planned,
                           int revocable);

}  // namespace reaper::recording

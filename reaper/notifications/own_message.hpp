// Messages that the reaper puts into its own queue, in the shape of Nova's failure notifications,
// so that whichever reaper serves the queue hears of what only one of them found. Pure.
#pragma once

#include <string>

#include "reaper/model/ids.hpp"
#include "reaper/model/time.hpp"

namespace reaper {

/// An unshelving found no host: `reaper.unshelve.error`.
struct UnshelveFailure {
    RequestId request;
    ServerId server;
    ProjectId project;
    TimePoint at{};  ///< when it was asked for
};

/// What `parse_notification` makes a FailureNotice of. The same failure gives the same message.
std::string message_of(const UnshelveFailure& failure);

}  // namespace reaper

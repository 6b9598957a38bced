// Turns at something that is done by one at a time, in the order of asking. Urgent callers wait for
// at most one of the others.
#pragma once

#include <boost/asio/any_io_executor.hpp>

#include "reaper/runtime/async.hpp"

namespace reaper {

class Turns {
public:
    explicit Turns(const boost::asio::any_io_executor& executor)
        : turn_(executor, 1), others_(executor, 1) {}

    /// It lasts as long as the permit.
    Task<AsyncSemaphore::Permit> take(bool in_a_hurry);

private:
    AsyncSemaphore turn_;
    AsyncSemaphore others_;  ///< of the callers that are not urgent, which one is next
};

}  // namespace reaper

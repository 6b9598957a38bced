// Turns at something that one does at a time, in the order of asking; but who is in a hurry waits
// for one at most of those who are not.
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
    AsyncSemaphore others_;  ///< of those who are in no hurry, who is next
};

}  // namespace reaper

// Turns at something that is done by one at a time, in the order of asking. Urgent callers wait for
// at most one of the others.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <optional>

#include "reaper/runtime/async.hpp"

namespace reaper {

class Turns {
public:
    explicit Turns(const boost::asio::any_io_executor& executor)
        : turn_(executor, 1), others_(executor, 1) {}

    /// It lasts as long as the permit.
    Task<AsyncSemaphore::Permit> take(bool in_a_hurry) {
        // Copies, which share the places: a waiting caller may outlive the turns.
        AsyncSemaphore turn = turn_;
        AsyncSemaphore others = others_;
        std::optional<AsyncSemaphore::Permit> next;
        if (!in_a_hurry) next.emplace(co_await others.acquire());
        co_return co_await turn.acquire();
    }

private:
    AsyncSemaphore turn_;
    AsyncSemaphore others_;  ///< of the callers that are not urgent, which one is next
};

}  // namespace reaper

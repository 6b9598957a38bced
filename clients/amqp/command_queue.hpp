// What the executor's side asks of the connection's thread. Thread-safe; wakes the thread's poll.
// Bounded: each ticket that was handed out is answered at most once (see Outlet::answer).
// Internal to clients/amqp.
#pragma once

#include <chrono>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "reaper/ports/message_source.hpp"

namespace reaper::amqp {

using Steady = std::chrono::steady_clock;

/// Acknowledge the delivery; with a reason, after a copy is in the dead-letter queue.
struct Command {
    DeliveryTicket ticket;
    std::optional<std::string> set_aside_because;
    Delivery delivery;  ///< of set aside only
};

class CommandQueue {
public:
    CommandQueue();
    ~CommandQueue();
    CommandQueue(const CommandQueue&) = delete;
    CommandQueue& operator=(const CommandQueue&) = delete;

    void push(Command command);
    /// All there are; the thread has seen the wake-up.
    std::vector<Command> take();

    /// Asks the thread to end, by `deadline`; only the first call counts.
    void request_stop(Steady::time_point deadline);
    std::optional<Steady::time_point> stop_deadline() const;

    /// Becomes readable when there is something to do.
    int wake_fd() const { return wake_; }
    /// Sleeps until then or until a stop is asked for. Commands that come meanwhile are dropped:
    /// there is no connection that they could be for.
    void sleep_until(Steady::time_point time);

private:
    void wake() const;

    mutable std::mutex mutex_;
    std::vector<Command> commands_;
    std::optional<Steady::time_point> stop_;
    int wake_;
};

/// Milliseconds until `time` for poll(2), within [0, most].
int poll_timeout(Steady::time_point time, std::chrono::milliseconds most);

}  // namespace reaper::amqp

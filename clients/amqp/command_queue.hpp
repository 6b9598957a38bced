// What the executor's side asks of the connection's thread. Thread-safe; wakes the thread's poll.
// It is bounded: each issued ticket is answered at most once (see Dispatcher::answer), and commands
// for a lost connection are dropped with the first commands of the next one. Internal to
// clients/amqp.
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "clients/amqp/wakeup.hpp"
#include "reaper/ports/message_source.hpp"

namespace reaper::amqp {

/// Acknowledge the delivery; with a reason, after a copy is in the dead-letter queue.
struct Command {
    DeliveryTicket ticket;
    std::optional<std::string> set_aside_because;
    Delivery delivery;  ///< of set aside only
};

class CommandQueue : public Wakeup {
public:
    void push(Command command);
    /// All there are; the thread has seen the wake-up.
    std::vector<Command> take();

private:
    std::mutex mutex_;
    std::vector<Command> commands_;
};

}  // namespace reaper::amqp

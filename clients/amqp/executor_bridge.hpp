// The way from a connection's thread to the executor. Once closed, nothing passes, so the
// thread may outlive source, handlers and executor. Internal to clients/amqp.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "reaper/ports/message_source.hpp"

namespace reaper::amqp {

// How the executor's side wakes the connection's thread and tells it to end. Thread-safe.
// Internal to clients/amqp.

using Steady = std::chrono::steady_clock;

class Wakeup {
public:
    Wakeup();
    ~Wakeup();
    Wakeup& operator=(Wakeup&&) = delete;

    void wake() const;
    /// The thread has seen the wake-up.
    void seen() const;
    /// Becomes readable when there is something to do.
    int wake_fd() const { return fd_; }

    /// Asks the thread to end, by `deadline`; only the first call counts.
    void request_stop(Steady::time_point deadline);
    std::optional<Steady::time_point> stop_deadline() const;
    /// Sleeps until then or until a stop is asked for.
    void sleep_until(Steady::time_point time) const;

private:
    mutable std::mutex mutex_;
    std::optional<Steady::time_point> stop_;
    int fd_;
};

/// Milliseconds until `time` for poll(2), within [0, most].
int poll_timeout(Steady::time_point time, std::chrono::milliseconds most);

// What the executor's side asks of the connection's thread. Thread-safe; wakes the thread's poll.
// It is bounded: each issued ticket is answered at most once (see Dispatcher::answer), and commands
// for a lost connection are dropped with the first commands of the next one. Internal to
// clients/amqp.

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

class ExecutorBridge : public std::enable_shared_from_this<ExecutorBridge> {
public:
    ExecutorBridge(boost::asio::any_io_executor executor, std::function<void()> on_finished);
    virtual ~ExecutorBridge() = default;
    ExecutorBridge& operator=(ExecutorBridge&&) = delete;

    /// The thread has nothing more to do.
    void finished();

    // The executor's side.
    /// What comes from the broker is dropped from now on.
    void mute() { muted_ = true; }
    /// Nothing is posted from now on, and what is posted already does nothing.
    void close();

protected:
    /// Runs it on the executor, in the order of the calls. It may use this gate.
    void post(std::function<void()> action);
    bool muted() const { return muted_; }
    /// On the executor: releases the handlers.
    virtual void forget_handlers() = 0;

private:
    std::mutex mutex_;  // guards open_, while something is posted
    bool open_ = true;
    boost::asio::any_io_executor executor_;

    // Only used on the executor:
    std::function<void()> on_finished_;
    bool muted_ = false;
};

}  // namespace reaper::amqp

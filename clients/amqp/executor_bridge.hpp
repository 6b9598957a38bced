// The way from a connection's thread to the executor. Once closed, nothing passes, so the
// thread may outlive source, handlers and executor. Internal to clients/amqp.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <functional>
#include <memory>
#include <mutex>

namespace reaper::amqp {

class ExecutorBridge : public std::enable_shared_from_this<ExecutorBridge> {
public:
    ExecutorBridge(boost::asio::any_io_executor executor, std::function<void()> on_finished);
    virtual ~ExecutorBridge() = default;
    ExecutorBridge(const ExecutorBridge&) = delete;
    ExecutorBridge& operator=(const ExecutorBridge&) = delete;

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

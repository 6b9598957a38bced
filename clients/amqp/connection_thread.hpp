// The thread that holds a connection (librabbitmq blocks), and how it is brought to its end.
// Internal to clients/amqp; used on the executor only.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <thread>

#include "clients/amqp/amqp_connection.hpp"
#include "clients/amqp/executor_bridge.hpp"
#include "reaper/runtime/task.hpp"

namespace reaper::amqp {

class ConnectionThread {
public:
    using milliseconds = std::chrono::milliseconds;

    explicit ConnectionThread(const boost::asio::any_io_executor& executor);
    /// Ends a thread that still runs, at once; one that is stuck in name resolution, which nothing
    /// can cut, is left to itself.
    ~ConnectionThread();
    ConnectionThread& operator=(ConnectionThread&&) = delete;

    /// To be called by the gate when the thread has finished.
    std::function<void()> on_finished();

    /// `work` returns soon after a stop was asked for on `wakeup`, or after `cutter` cut what it
    /// waits for. It must own all that it uses, as it may outlive this object.
    void start(const char* name, std::shared_ptr<ExecutorBridge> bridge,
               std::shared_ptr<Wakeup> wakeup, std::shared_ptr<ConnectionAborter> aborter,
               std::function<void()> work);
    /// Asks it to end within `limit`, and cuts the connection after that. The gate is closed then.
    Task<void> stop(milliseconds limit);

private:
    struct Done;

    Task<bool> finished_within(milliseconds limit);
    void end(milliseconds patience);

    boost::asio::steady_timer finished_;  // cancelled when the thread has finished
    std::shared_ptr<Done> done_;
    std::shared_ptr<ExecutorBridge> bridge_;
    std::shared_ptr<Wakeup> wakeup_;
    std::shared_ptr<ConnectionAborter> aborter_;
    std::thread thread_;
    bool stopping_ = false;
};

}  // namespace reaper::amqp

// A connection's thread, and its work. Internal to clients/amqp.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "clients/amqp/amqp_connection.hpp"
#include "clients/amqp/amqp_topology.hpp"
#include "clients/amqp/executor_bridge.hpp"
#include "config/broker_url.hpp"
#include "config/settings.hpp"
#include "reaper/runtime/backoff.hpp"
#include "reaper/runtime/task.hpp"

namespace reaper::amqp {

// The thread that holds a connection (librabbitmq blocks), and how it is brought to its end.
// Used on the executor only.

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

// What a session does on its connection, in the connection's thread.

/// Frames that it reads at once, so that a flood does not keep its other work waiting.
constexpr int frames_of_a_round = 64;

/// Takes turns until one fails, or a stop is asked for on `wakeup`. Why the connection was lost;
/// none after a stop. That has a deadline, by which the connection is closed. `wind_down`, if any,
/// is called before that, and is false if the connection is lost.
std::optional<Error> live_until_stop(
    Connection& connection, const Wakeup& wakeup, const std::function<Outcome()>& turn,
    const std::function<bool(Steady::time_point deadline)>& wind_down = nullptr);

// The work of a connection's thread: connects, runs a session on the connection, and after a
// loss connects again, forever, until a stop.

class Worker {
public:
    /// Lives on the connection until it is lost; why, unless stopped.
    using Live = std::function<std::optional<Error>(Connection&, const ProgressCallback&)>;
    /// A new state, in words for people; `refused`: no broker of the list takes our user and its
    /// password.
    using State = std::function<void(bool consuming, const std::string& detail, bool refused)>;

    /// All references must outlive it.
    Worker(const config::Broker& broker, std::chrono::milliseconds answer_timeout,
           const Wakeup& wakeup, ConnectionAborter& aborter, Live live, State state);

    /// Returns after a stop was asked for.
    void run();

private:
    /// The first broker of the list that lets us in, starting with the one after that of which the
    /// connection was lost: a node may let us in and yet be cut off from the others.
    std::unique_ptr<Connection> connect();
    void pause_before_retry(const std::string& why);
    /// Says each state once, however often it is tried.
    void tell(bool consuming, const std::string& what,
              std::optional<std::chrono::milliseconds> pause);
    bool stopping() const { return wakeup_.stop_deadline().has_value(); }

    const config::Broker& broker_;
    std::chrono::milliseconds answer_timeout_;
    const Wakeup& wakeup_;
    ConnectionAborter& aborter_;
    Live live_;
    State state_;
    std::vector<Result<BrokerUrl>> urls_;
    std::size_t current_ = 0;  // index of the broker to begin with
    std::string why_not_;      // all reasons of the last round
    bool refused_ = false;     // in the last round, by every broker
    std::string told_;
    GrowingPause backoff_;
};

}  // namespace reaper::amqp

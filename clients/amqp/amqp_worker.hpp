// The work of a connection's thread: connects, runs a session on the connection, and after a
// loss connects again, forever, until a stop. Internal to clients/amqp.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "clients/amqp/amqp_connection.hpp"
#include "clients/amqp/amqp_topology.hpp"
#include "clients/amqp/executor_bridge.hpp"
#include "config/broker_url.hpp"
#include "config/settings.hpp"
#include "reaper/runtime/backoff.hpp"

namespace reaper::amqp {

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

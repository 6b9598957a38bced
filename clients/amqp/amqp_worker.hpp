// The connection's thread: connects, lets a Session live on the connection, and after a loss
// connects again, for ever, until a stop. Internal to clients/amqp.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "clients/amqp/amqp_connection.hpp"
#include "clients/amqp/amqp_source.hpp"
#include "clients/amqp/backoff.hpp"
#include "clients/amqp/broker_url.hpp"
#include "clients/amqp/command_queue.hpp"
#include "clients/amqp/outlet.hpp"
#include "config/settings.hpp"

namespace reaper::amqp {

/// What the thread shares with the source; lives as long as either.
struct Shared {
    config::Broker broker;
    AmqpTuning tuning;
    CommandQueue commands;
    Cutter cutter;
    std::shared_ptr<Outlet> outlet;
};

class Worker {
public:
    explicit Worker(std::shared_ptr<Shared> shared);

    /// Returns after a stop was asked for.
    void run();

private:
    /// The first broker of the list that lets us in, starting with the last one that did.
    std::unique_ptr<Connection> connect();
    /// Lives on the connection until it is lost; why, unless stopped.
    std::optional<Error> live_on(Connection& connection);
    void pause_before_retry(const std::string& why);
    /// Says each state once, however often it is tried.
    void tell(bool consuming, const std::string& what,
              std::optional<std::chrono::milliseconds> pause);
    bool stopping() const { return shared_->commands.stop_deadline().has_value(); }

    std::shared_ptr<Shared> shared_;
    std::vector<Result<BrokerUrl>> urls_;
    std::size_t current_ = 0;  // index of the broker that let us in last
    std::string why_not_;      // all reasons of the last round
    std::string told_;
    Backoff backoff_;
};

}  // namespace reaper::amqp

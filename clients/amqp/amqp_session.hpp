// Life on one connection to the broker: declares, binds, consumes and acknowledges while this
// reaper serves (serving_token.hpp), until the connection is lost or a stop is asked for. It
// publishes nothing: the outbox wakes the publisher for that. Internal to clients/amqp.
#pragma once

#include <optional>

#include "clients/amqp/amqp_connection.hpp"
#include "clients/amqp/amqp_source.hpp"
#include "clients/amqp/amqp_topology.hpp"
#include "clients/amqp/dispatcher.hpp"
#include "clients/amqp/executor_bridge.hpp"
#include "clients/amqp/outbox.hpp"

namespace reaper::amqp {

/// Blocks; runs in the connection's thread. Why the connection was lost; none after a stop, which
/// `commands` knows of.
std::optional<Error> run_session(Connection& connection, const config::Broker& broker,
                                 const AmqpTuning& tuning, CommandQueue& commands, Outbox& outbox,
                                 Dispatcher& dispatcher, const ProgressCallback& tell);

}  // namespace reaper::amqp

// Life on the connection that publishes: dead-letter copies, serving tokens, and answers to who
// serves. It takes its work from the outbox. Internal to clients/amqp.
#pragma once

#include <optional>

#include "clients/amqp/amqp_connection.hpp"
#include "clients/amqp/amqp_source.hpp"
#include "clients/amqp/outbox.hpp"

namespace reaper::amqp {

/// Blocks; runs in the publisher's thread. Why the connection was lost; none after a stop, which
/// `outbox` knows of. A copy that was on its way is in the outbox again then.
std::optional<Error> run_publisher(Connection& connection, const config::Broker& broker,
                                   const AmqpTuning& tuning, Outbox& outbox);

}  // namespace reaper::amqp

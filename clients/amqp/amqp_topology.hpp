// What we declare on the broker and look at. Every call blocks for one answer. Each uses the
// scratch channel, for a refusal closes the channel that it was asked on.
// Internal to clients/amqp.
#pragma once

#include <string>

#include "clients/amqp/amqp_connection.hpp"
#include "config/settings.hpp"

namespace reaper::amqp {

constexpr amqp_channel_t consume_channel = 1;
constexpr amqp_channel_t publish_channel = 2;
constexpr amqp_channel_t scratch_channel = 3;
constexpr amqp_channel_t proof_channel = 4;
constexpr amqp_channel_t token_channel = 5;

/// Our durable, bounded queue (the oldest messages go first), one active consumer at a time; or,
/// with `temporary_queue`, an exclusive one under `name` that goes with the connection.
Outcome declare_queue(Connection& connection, const config::Broker& broker,
                      const std::string& name);
/// The queue for INFO messages: exclusive, bounded (the oldest messages go first), gone with us.
/// What the broker drops from it goes to the queue of its losses.
Outcome declare_events_queue(Connection& connection, const config::Broker& broker,
                             const std::string& name);
/// The queue for what is lost from that one, of one message; gone with us, too.
std::string losses_of(const std::string& events_queue);
/// Was anything `lost` since the last call? At first, it declares the queue of the losses; must
/// come before the events queue.
Outcome take_losses(Connection& connection, const std::string& events_queue, bool& lost);
Outcome declare_dead_letter_queue(Connection& connection, const config::Broker& broker);

/// A failure of code 404 if it is not there. Declares nothing.
Outcome look_for_exchange(Connection& connection, const config::Broker& broker);

/// `queue.purpose.<something unique>`: for a queue that nobody else may meet, not even our own of
/// an earlier connection that the broker has not missed yet.
std::string unique_name(const std::string& queue, const std::string& purpose);

/// Binds the queue to `<topic>.<priority>` of every topic; harmless when it is bound already.
Outcome bind_queue(Connection& connection, const config::Broker& broker, const std::string& name,
                   const std::string& priority);

/// Messages and consumers; a failure of code 404 if it is not there. Declares nothing.
Outcome look_at_queue(Connection& connection, const std::string& name, QueueCounts& counts);

}  // namespace reaper::amqp

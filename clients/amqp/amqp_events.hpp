// EventSource on RabbitMQ: Nova's INFO notifications, thousands per second if need be.
//
// A connection and a thread of its own, in which messages are parsed too; events reach the executor
// in batches. On the broker it has a queue of its own (`<queue>.events.<something unique>`:
// exclusive, not durable, bounded by `broker.events_max_length`, the oldest go first), bound to
// `<topic>.info` on Nova's exchange, which it never declares. Nothing is acknowledged.
//
// When the executor is slow, only some batches wait for it; then the thread stops reading, and what
// comes waits in TCP and in the broker's queue. What no longer fits there, the broker puts
// into a queue beside it (`....lost`: exclusive, of one message), which is looked at again and
// again: a message there is reported as a state. So no loss goes unnoticed, however fast the queue
// drained.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <memory>

#include "clients/amqp/amqp_connection.hpp"
#include "config/settings.hpp"
#include "reaper/ports/message_source.hpp"

namespace reaper {

/// What no operator needs to set. A body that was cut counts as malformed.
struct EventTuning : ConnectionTuning {
    /// Batches that wait for the executor, of at most `batch_messages` events each.
    int batches_in_flight = 8;
    int batch_messages = 256;
};

/// Never fails: what is wrong with the settings or the broker is reported by `Handlers::state`,
/// and tried again.
std::unique_ptr<EventSource> make_amqp_events(boost::asio::any_io_executor executor,
                                              const config::Broker& broker,
                                              const EventTuning& tuning = {});

}  // namespace reaper

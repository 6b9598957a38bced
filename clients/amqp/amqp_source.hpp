// MessageSource on RabbitMQ (AMQP 0-9-1, librabbitmq).
//
// librabbitmq blocks, so the connections have threads of their own (one consumes, one publishes).
// Handlers run on the executor given here; `acknowledge`, `set_aside` and `stop` only leave a note
// for the threads. Use it only from that executor (one thread).
//
// On the broker it declares our queue (durable, bounded), the dead-letter queue (the same) and the
// queue of serving tokens (serving_token.hpp), which decides which of several reapers serves. It
// binds our queue to `<topic>.error` on Nova's exchange, which it never declares. The binding is
// made again after each reconnection and checked while connected, because Nova's exchange is gone
// after a broker restart.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <cstddef>
#include <memory>

#include "clients/amqp/amqp_connection.hpp"
#include "config/settings.hpp"
#include "reaper/ports/message_source.hpp"

namespace reaper {

/// What no operator needs to set. A body that was cut is handed out; its dead-letter copy says so.
struct AmqpTuning : ConnectionTuning {
    /// To this size.
    std::size_t copy_bytes = 64 * 1024;
    /// Tries to store a dead-letter copy; then the original stays unacknowledged, for redelivery.
    int copy_tries = 5;
    /// While no token came to us: until we put the first one into the queue, and between two at
    /// first (up to six times that).
    std::chrono::milliseconds token_delay{0};
    std::chrono::milliseconds token_interval{10'000};
};

/// Never fails: what is wrong with the settings or the broker is reported by `Handlers::state`,
/// and tried again. `broker.temporary_queue`: an exclusive queue that goes with the connection,
/// and nothing is declared or published besides.
std::unique_ptr<MessageSource> make_amqp_source(boost::asio::any_io_executor executor,
                                                const config::Broker& broker,
                                                const AmqpTuning& tuning = {});

}  // namespace reaper

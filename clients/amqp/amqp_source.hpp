// MessageSource on RabbitMQ (AMQP 0-9-1, librabbitmq).
//
// librabbitmq blocks, so a thread of its own holds the connection; handlers run on the executor
// given here, and `acknowledge`, `set_aside` and `stop` only leave a note for the thread. Use it
// from that executor only (one thread).
//
// What it does on the broker: declares our queue (durable, bounded, one active consumer at a time:
// a second reaper stands by) and the dead-letter queue (durable, bounded), and binds our queue to
// `<topic>.error` on Nova's exchange, which it never declares. The binding is made again after each
// reconnection and checked while connected, for Nova's exchange goes with a broker restart.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <chrono>
#include <cstddef>
#include <memory>

#include "config/settings.hpp"
#include "reaper/ports/message_source.hpp"

namespace reaper {

/// What no operator needs to set.
struct AmqpTuning {
    /// How often exchange, queue and binding are checked while all is well.
    std::chrono::milliseconds recheck{10'000};
    /// Longest pause between two looks for an exchange that is not there.
    std::chrono::milliseconds recheck_missing_max{2'000};
    /// One question to the broker, and its confirmation of a dead-letter copy.
    std::chrono::milliseconds answer_timeout{10'000};
    /// How long `stop` waits for the broker before it cuts the connection.
    std::chrono::milliseconds stop_timeout{5'000};
    /// A larger body is handed out cut to `copy_bytes`, as nobody can understand it then; its
    /// dead-letter copy says so.
    std::size_t max_body_bytes = 1024 * 1024;
    std::size_t copy_bytes = 64 * 1024;
    /// Tries to store a dead-letter copy; then the original stays unacknowledged, for redelivery.
    int copy_tries = 5;
};

/// Never fails: what is wrong with the settings or the broker is told through `Handlers::state`,
/// and tried again. `broker.temporary_queue`: an exclusive queue that goes with the connection,
/// and nothing is declared or published besides.
std::unique_ptr<MessageSource> make_amqp_source(boost::asio::any_io_executor executor,
                                                const config::Broker& broker,
                                                const AmqpTuning& tuning = {});

}  // namespace reaper

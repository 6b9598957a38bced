// Moves what is in a queue of ours to a queue of the same name and another type, which RabbitMQ
// can't change. By way of a second queue, for the time in which the first one is made anew. Each
// message is acknowledged in the one only when the broker has confirmed it in the other, so
// whatever ends the move, nothing is lost: a message may be there twice, and the move goes on where
// it was the next time. New messages of Nova's come in all the while. Internal to clients/amqp;
// used by the publisher's thread only.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "clients/amqp/amqp_connection.hpp"
#include "clients/amqp/amqp_topology.hpp"
#include "clients/amqp/frame_assembler.hpp"
#include "clients/amqp/wakeup.hpp"

namespace reaper::amqp {

/// The queue by way of which it moves.
std::string way_of_move(const std::string& queue);
/// Of a move, and for nobody else: it marks the end of what was in a queue.
bool is_end_mark(const ContentProperties& properties);
/// The message was delivered before it was moved.
bool was_delivered_before(const Message& message);

class QueueMove {
public:
    /// All references must outlive it. `stop` ends it early.
    QueueMove(Connection& connection, const config::Broker& broker,
              std::chrono::milliseconds answer_timeout, std::function<bool()> stop);

    /// Afterwards the queue is as it should be, and all messages are in it. Nothing is done if it
    /// is that already, and no move was interrupted.
    Outcome run(const QueueShape& queue);

private:
    Outcome to_the_way(const QueueShape& queue, const QueueShape& way);
    Outcome from_the_way(const QueueShape& queue, const QueueShape& way);
    Outcome move(const QueueShape& from, const QueueShape& to);
    /// A name that nobody has is no failure.
    Outcome find(const std::string& name, std::optional<QueueCounts>& found);
    Outcome bind(const QueueShape& queue);
    Outcome drain(const QueueShape& from, const std::string& to);
    Outcome drain_once(const QueueShape& from, const std::string& to);
    Outcome start_drain(const std::string& from);
    Outcome send_end_mark(const std::string& from);
    Outcome end_drain(Outcome outcome);
    Outcome skip_the_rest();
    Outcome serve(const amqp_frame_t& frame, const std::string& to);
    Outcome serve_confirmation(const amqp_method_t& method);
    Outcome pass_on(const Message& message, const std::string& to);
    Outcome stopped() const;

    Connection& connection_;
    const config::Broker& broker_;
    std::chrono::milliseconds answer_timeout_;
    std::function<bool()> stop_;
    FrameAssembler assembler_;
    std::uint64_t sequence_ = 0;
    std::map<std::uint64_t, std::uint64_t> unconfirmed_;  // number of the copy, tag of the original
    std::string end_mark_;                                // its id; empty: not sent yet
    bool end_reached_ = false;
    std::optional<Failure> refused_;
    std::uint64_t moved_ = 0;
};

}  // namespace reaper::amqp

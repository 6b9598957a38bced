#include "clients/amqp/queue_move.hpp"

#include <algorithm>
#include <limits>
#include <spdlog/spdlog.h>

#include "clients/amqp/amqp_bytes.hpp"
#include "clients/amqp/serving_token.hpp"
#include "reaper/model/text.hpp"

namespace reaper::amqp {
namespace {

constexpr amqp_channel_t from_channel = 6;
constexpr amqp_channel_t to_channel = 7;
constexpr std::uint16_t moved_at_once = 100;
constexpr int frames_of_a_move = 64;
constexpr std::string_view redelivered_header = "x-reaper-redelivered";
const std::string end_mark_type = "reaper.moved";

}  // namespace

bool is_end_mark(const ContentProperties& properties) {
    return properties.type == end_mark_type;
}

bool was_delivered_before(const Message& message) {
    return message.headers.has(redelivered_header);
}

std::string way_of_move(const std::string& queue) {
    return queue + ".moving";
}

QueueMove::QueueMove(Connection& connection, const config::Broker& broker,
                     std::chrono::milliseconds answer_timeout, std::function<bool()> stop)
    : connection_(connection),
      broker_(broker),
      answer_timeout_(answer_timeout),
      stop_(std::move(stop)),
      assembler_(std::numeric_limits<std::size_t>::max(), 0) {}

Outcome QueueMove::run(const QueueShape& queue) {
    QueueShape way = queue;
    way.name = way_of_move(queue.name);
    way.single_active = false;
    auto failed = declare_queue(connection_, queue);
    if (failed && !failed->other_type) return failed;
    if (failed) {
        spdlog::info("queue '{}' becomes a {} queue; its messages are moved", queue.name,
                     queue.type);
        if (auto trouble = to_the_way(queue, way)) return trouble;
    }
    std::optional<QueueCounts> waiting;
    if (auto trouble = find(way.name, waiting)) return trouble;
    if (!waiting) return {};
    if (auto trouble = from_the_way(queue, way)) return trouble;
    spdlog::info("queue '{}' is a {} queue", queue.name, queue.type);
    return {};
}

Outcome QueueMove::to_the_way(const QueueShape& queue, const QueueShape& way) {
    std::optional<QueueCounts> found;
    if (auto failed = find(queue.name, found)) return failed;
    if (found && found->consumers > 0)
        return Failure{{Errc::conflict,
                        connection_.name() + ": queue '" + queue.name + "' is no " + queue.type +
                            " queue yet, and an older reaper consumes it: stop that one, and the "
                            "queue is moved; or set broker.queue_type to what it is"},
                       0,
                       false};
    // One of an earlier move will do as it is.
    if (auto failed = declare_queue(connection_, way); failed && failed->code != 406) return failed;
    return move(queue, way);
}

Outcome QueueMove::from_the_way(const QueueShape& queue, const QueueShape& way) {
    if (auto failed = declare_queue(connection_, queue)) return failed;
    return move(way, queue);
}

/// The oldest first: until most is moved, new messages come in where they did before. Then for a
/// moment they come in at both, rather than at none.
Outcome QueueMove::move(const QueueShape& from, const QueueShape& to) {
    if (auto failed = end_drain(drain_once(from, to.name))) return failed;
    if (auto failed = bind(to)) return failed;
    if (auto failed = unbind_queue(connection_, broker_, from.name, from.binding_keys)) {
        return failed;
    }
    if (auto failed = drain(from, to.name)) return failed;
    return delete_queue(connection_, from.name);
}

Outcome QueueMove::find(const std::string& name, std::optional<QueueCounts>& found) {
    QueueCounts counts;
    auto failed = look_at_queue(connection_, name, counts);
    if (!failed) found = counts;
    if (failed && !failed->fatal && failed->code == 404) failed.reset();
    return failed;
}

/// Without an exchange there are no new messages.
Outcome QueueMove::bind(const QueueShape& queue) {
    auto failed = bind_queue(connection_, broker_, queue.name, queue.binding_keys);
    if (failed && !failed->fatal && failed->code == 404) failed.reset();
    return failed;
}

/// Nothing is sent to the one any more; but what a node of the broker had on its way there may come
/// late.
Outcome QueueMove::drain(const QueueShape& from, const std::string& to) {
    std::optional<QueueCounts> left;
    do {
        if (auto failed = end_drain(drain_once(from, to))) return failed;
        spdlog::info("{} messages moved from queue '{}' to '{}'", moved_, from.name, to);
        if (auto failed = find(from.name, left)) return failed;
    } while (left && left->messages > 0);
    return {};
}

/// Until a message of our own comes out at the end. It is put there when the queue is almost empty:
/// in a full one it would push the oldest out.
Outcome QueueMove::drain_once(const QueueShape& from, const std::string& to) {
    const auto almost_empty =
        std::min<std::uint64_t>(moved_at_once, static_cast<std::uint64_t>(from.max_length) / 2);
    if (auto failed = start_drain(from.name)) return failed;
    auto deadline = Steady::now() + answer_timeout_;
    auto last = moved_;
    while (!end_reached_ || !unconfirmed_.empty()) {
        bool more = false;
        if (auto failed = connection_.read_frames(
                frames_of_a_move, more,
                [&](const amqp_frame_t& frame) { return serve(frame, to); })) {
            return failed;
        }
        if (refused_) return std::move(refused_);
        if (stop_()) return stopped();
        if (more) continue;
        if (std::exchange(last, moved_) < moved_) deadline = Steady::now() + answer_timeout_;
        if (Steady::now() >= deadline)
            return Failure{{Errc::timeout, connection_.name() + ": moving queue '" + from.name +
                                               "': no message came or was confirmed in time"},
                           0,
                           true};
        if (end_mark_.empty()) {
            std::optional<QueueCounts> left;
            if (auto failed = find(from.name, left)) return failed;
            if (!left || left->messages <= almost_empty) {
                if (auto failed = send_end_mark(from.name)) return failed;
            }
        }
        connection_.wait(-1, Steady::now() + std::chrono::milliseconds(100));
    }
    return {};
}

Outcome QueueMove::send_end_mark(const std::string& from) {
    ContentProperties mark;
    mark.type = end_mark_type;
    mark.message_id = end_mark_ = unique_name("reaper", "moved");
    const amqp_basic_properties_t properties = mark.raw(amqp_empty_table);
    constexpr amqp_boolean_t mandatory = 1;
    ++sequence_;
    const int status = amqp_basic_publish(connection_.raw(), to_channel, amqp_empty_bytes,
                                          bytes(from), mandatory, 0, &properties, amqp_empty_bytes);
    return connection_.check_status(status, "moving queue '" + from + "'");
}

Outcome QueueMove::start_drain(const std::string& from) {
    moved_ = 0;
    sequence_ = 0;
    unconfirmed_.clear();
    refused_.reset();
    end_mark_.clear();
    end_reached_ = false;
    assembler_.reset();
    if (auto failed = connection_.open_channel(to_channel)) return failed;
    amqp_confirm_select(connection_.raw(), to_channel);
    if (auto failed = connection_.check(to_channel, "asking for confirmations")) return failed;
    if (auto failed = connection_.open_channel(from_channel)) return failed;
    amqp_basic_qos(connection_.raw(), from_channel, 0, moved_at_once, 0);
    if (auto failed = connection_.check(from_channel, "setting the prefetch")) return failed;
    amqp_basic_consume(connection_.raw(), from_channel, bytes(from), bytes("reaper"), 0, 0, 0,
                       amqp_empty_table);
    return connection_.check(from_channel, "moving queue '" + from + "'");
}

/// What was not confirmed goes back into the queue that it came from.
Outcome QueueMove::end_drain(Outcome outcome) {
    if (outcome && outcome->fatal) return outcome;
    for (const amqp_channel_t channel : {from_channel, to_channel})
        if (auto failed = connection_.close_channel(channel)) return outcome ? outcome : failed;
    if (auto failed = skip_the_rest()) return failed;
    return outcome;
}

/// What came until the channels were closed: the next ones have their numbers.
Outcome QueueMove::skip_the_rest() {
    bool more = true;
    while (more)
        if (auto failed =
                connection_.read_frames(frames_of_a_move, more, [this](const amqp_frame_t& frame) {
                    return frame.channel == 0 ? serve(frame, {}) : Outcome();
                }))
            return failed;
    return {};
}

Outcome QueueMove::serve(const amqp_frame_t& frame, const std::string& to) {
    if (frame.frame_type != AMQP_FRAME_METHOD) {
        if (frame.channel != from_channel) return {};
        const auto message = assembler_.add(frame);
        return message ? pass_on(*message, to) : Outcome();
    }
    const amqp_method_t& method = frame.payload.method;
    std::string why;
    if (frame.channel == 0) {
        if (method.id == AMQP_CONNECTION_CLOSE_METHOD)
            return connection_.closed_by_broker(0, method, why);
        return {};
    }
    if (method.id == AMQP_CHANNEL_CLOSE_METHOD) {
        if (auto lost = connection_.closed_by_broker(frame.channel, method, why)) return lost;
        refused_ = Failure{{Errc::server_error, why}, 0, false};
        return {};
    }
    if (frame.channel == to_channel) return serve_confirmation(method);
    if (frame.channel == from_channel && method.id == AMQP_BASIC_DELIVER_METHOD)
        assembler_.start(*static_cast<const amqp_basic_deliver_t*>(method.decoded));
    return {};
}

Outcome QueueMove::serve_confirmation(const amqp_method_t& method) {
    if (method.id == AMQP_BASIC_NACK_METHOD || method.id == AMQP_BASIC_RETURN_METHOD) {
        refused_ = Failure{
            {Errc::server_error, connection_.name() + ": the broker could not store a message that "
                                                      "was to be moved"},
            0,
            false};
    }
    if (method.id != AMQP_BASIC_ACK_METHOD || refused_) return {};
    const auto& ack = *static_cast<const amqp_basic_ack_t*>(method.decoded);
    const auto end = unconfirmed_.upper_bound(ack.delivery_tag);
    auto at = ack.multiple != 0 ? unconfirmed_.begin() : unconfirmed_.find(ack.delivery_tag);
    while (at != unconfirmed_.end() && at != end) {
        const int status = amqp_basic_ack(connection_.raw(), from_channel, at->second, 0);
        if (auto failed = connection_.check_status(status, "acknowledging")) return failed;
        at = unconfirmed_.erase(at);
        ++moved_;
    }
    return {};
}

/// A token of an older version is for nobody.
Outcome QueueMove::pass_on(const Message& message, const std::string& to) {
    const bool mark = is_end_mark(message.properties);
    if (mark || is_serving_token(message.properties)) {
        if (mark && message.properties.message_id == end_mark_) end_reached_ = true;
        return connection_.check_status(
            amqp_basic_ack(connection_.raw(), from_channel, message.tag, 0), "acknowledging");
    }
    unconfirmed_[++sequence_] = message.tag;
    Headers headers = message.headers;
    if (message.redelivered) headers.add_flag(redelivered_header);
    const amqp_basic_properties_t properties = message.properties.raw(headers.raw());
    constexpr amqp_boolean_t mandatory = 1;
    const int status =
        amqp_basic_publish(connection_.raw(), to_channel, amqp_empty_bytes, bytes(to), mandatory, 0,
                           &properties, bytes(message.body));
    return connection_.check_status(status, "moving a message");
}

Outcome QueueMove::stopped() const {
    return Failure{{Errc::cancelled, connection_.name() + ": the move of a queue was interrupted; "
                                                          "it goes on later"},
                   0,
                   false};
}

}  // namespace reaper::amqp

#include "clients/amqp/amqp_session.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "clients/amqp/amqp_bytes.hpp"
#include "clients/amqp/compression.hpp"
#include "clients/amqp/connection_thread.hpp"
#include "clients/amqp/frame_assembler.hpp"
#include "clients/amqp/rabbitmq_c.hpp"
#include "clients/amqp/serving_token.hpp"
#include "reaper/runtime/log.hpp"

namespace reaper::amqp {
namespace {

/// A node that is starting may see none briefly.
constexpr int most_looks_without_consumer = 2;

class Session {
public:
    /// All references must outlive the session.
    Session(Connection& connection, const config::Broker& broker, const AmqpTuning& tuning,
            CommandQueue& commands, Outbox& outbox, Dispatcher& dispatcher,
            const ProgressCallback& tell)
        : connection_(connection),
          broker_(broker),
          tuning_(tuning),
          commands_(commands),
          outbox_(outbox),
          dispatcher_(dispatcher),
          queue_(broker.temporary_queue ? unique_name(broker.queue, "dry-run") : broker.queue),
          assembler_(tuning.max_body_bytes, tuning.copy_bytes),
          token_(connection, broker, tuning, outbox),
          topology_monitor_(connection, broker, tuning, tell) {}

    /// Why the connection was lost; none after a stop.
    std::optional<Error> run() {
        auto lost = live_until_stop(
            connection_, commands_, [this] { return turn(); },
            [this](Steady::time_point deadline) { return wind_down(deadline); });
        stop_trusting_deliveries();
        return lost;
    }

private:
    Outcome turn() {
        bool more = false;
        Outcome failed = round(more);
        if (!failed && Steady::now() >= check_due()) {
            auto outcome = set_up();
            failed = topology_monitor_.checked(std::move(outcome), consuming_ || token_.consuming(),
                                               queue_);
        }
        if (!failed && !more && !commands_.stop_deadline()) wait();
        return failed;
    }

    /// Our queues first: they may hold messages from before Nova's exchange vanished.
    Outcome set_up() {
        if (broker_.temporary_queue) return set_up_temporary();
        if (auto failed = token_.open()) return failed;
        if (auto failed = set_up_queues()) return failed;
        if (epoch_ != 0) {
            if (auto failed = start_consuming()) return failed;
        } else if (const auto refusal = outbox_.token_refusal()) {
            return Failure{{Errc::forbidden, *refusal}, 0, false};
        }
        return bind_queue(connection_, broker_, queue_, binding_keys(broker_, "error"));
    }

    /// A temporary queue has no other consumer, so its deliveries need no proof.
    Outcome set_up_temporary() {
        if (auto failed = declare_temporary_queue(connection_, broker_, queue_)) return failed;
        if (epoch_ == 0) {
            epoch_ = dispatcher_.new_epoch(BootClock::now(), std::nullopt);
            dispatcher_.serving();
        }
        if (auto failed = start_consuming()) return failed;
        return bind_queue(connection_, broker_, queue_, binding_keys(broker_, "error"));
    }

    Outcome set_up_queues() {
        if (epoch_ == 0 && broker_.queue_type == "quorum") {
            // We have a consumer: a node that sees none is cut off from those that do.
            bool consumed = true;
            if (auto failed = token_.look(consumed)) return failed;
            not_consumed_ = consumed ? 0 : not_consumed_ + 1;
            if (not_consumed_ > most_looks_without_consumer)
                return Failure{
                    {Errc::unreachable,
                     connection_.name() +
                         ": this node can't reach the other nodes of its queues; trying the next"},
                    0,
                    true};
        }
        for (const QueueShape& queue : {message_queue(broker_), dead_letter_queue(broker_)}) {
            if (auto failed = declare_queue(connection_, queue)) return failed;
        }
        return {};
    }

    Outcome start_consuming() {
        if (consuming_) return {};
        // Still open if the broker only took the queue from us.
        if (auto failed = connection_.close_channel(consume_channel)) return failed;
        if (auto failed = connection_.open_channel(consume_channel)) return failed;
        const auto prefetch = std::clamp(broker_.prefetch, 1, 65'535);
        amqp_basic_qos(connection_.raw(), consume_channel, 0, static_cast<std::uint16_t>(prefetch),
                       0);
        auto failed = connection_.check(consume_channel, "setting the prefetch");
        if (!failed) {
            amqp_basic_consume(connection_.raw(), consume_channel, bytes(queue_), bytes("reaper"),
                               0, 0, 0, amqp_empty_table);
            failed = connection_.check(consume_channel, "consuming queue '" + queue_ + "'");
        }
        consuming_ = !failed;
        return failed;
    }

    /// Begins to serve when the token is surely ours, and ends when it no longer is.
    Outcome follow_token() {
        if (outbox_.take_missing()) topology_monitor_.check_at_once();
        if (broker_.temporary_queue) return {};
        if (token_.lost()) return stop_serving();
        const auto proved = token_.proved();
        if (!proved || stopping_) return {};
        if (epoch_ != 0) {
            dispatcher_.renew(*proved);
            return {};
        }
        epoch_ = dispatcher_.new_epoch(*proved, token_.lease());
        dispatcher_.serving();
        if (std::exchange(serves_, true)) return {};
        spdlog::info("{}: this reaper serves queue '{}'", connection_.name(), queue_);
        topology_monitor_.check_at_once();
        return {};
    }

    /// Another reaper may serve now, or will soon: the broker gets everything back.
    Outcome stop_serving() {
        if (std::exchange(serves_, false))
            spdlog::warn(
                "{}: this reaper no longer serves queue '{}': the broker did not confirm it for {} "
                "s",
                connection_.name(), queue_,
                std::chrono::duration_cast<std::chrono::seconds>(token_.lease()).count());
        stop_trusting_deliveries();
        topology_monitor_.check_at_once();
        if (auto failed = connection_.close_channel(consume_channel)) return failed;
        return token_.close();
    }

    /// The channel is gone or of no use, and the broker delivers all of it again.
    void stop_trusting_deliveries() {
        dispatcher_.end_epoch();
        epoch_ = 0;
        consuming_ = false;
        unacknowledged_.clear();
        assembler_.reset();
        outbox_.forget_copies();
    }

    Outcome serve_commands() {
        for (Command& command : commands_.take()) {
            if (epoch_ == 0 || command.ticket.connection != epoch_) continue;
            if (!unacknowledged_.contains(command.ticket.tag)) continue;
            if (command.set_aside_because && !broker_.temporary_queue) {
                set_aside(std::move(command));
            } else if (auto failed = acknowledge(command.ticket.tag)) {
                return failed;
            }
        }
        return {};
    }

    Outcome acknowledge(std::uint64_t tag) {
        if (unacknowledged_.erase(tag) == 0) return {};
        return connection_.check_status(amqp_basic_ack(connection_.raw(), consume_channel, tag, 0),
                                        "acknowledging");
    }

    void set_aside(Command command) {
        Unacknowledged& original = unacknowledged_.at(command.ticket.tag);
        Copy copy;
        copy.ticket = command.ticket;
        copy.properties = original.properties;
        copy.headers = original.headers;
        copy.full_size = original.full_size;
        copy.body = std::move(original.packed.empty() ? command.delivery.body : original.packed);
        copy.routing_key = std::move(command.delivery.routing_key);
        copy.reason = std::move(*command.set_aside_because);
        if (original.full_size > original.handed_out) {
            copy.reason = fmt::format(
                "the message has {} bytes, more than the {} that are taken; {} are kept; {}",
                original.full_size, tuning_.max_body_bytes, original.handed_out, copy.reason);
        }
        outbox_.store(std::move(copy));
    }

    /// Handles what has arrived, at most some; `more` if there may be more.
    Outcome serve_frames(bool& more) {
        return connection_.read_frames(frames_of_a_round, more,
                                       [this](const amqp_frame_t& frame) { return serve(frame); });
    }

    Outcome serve(const amqp_frame_t& frame) {
        if (frame.channel == serving_channel) return token_.serve(frame);
        if (frame.frame_type == AMQP_FRAME_METHOD) {
            switch (frame.channel) {
                case 0: return serve_connection_method(frame.payload.method);
                case consume_channel: return serve_consume_method(frame.payload.method);
                default: return {};
            }
        }
        if (frame.channel != consume_channel || epoch_ == 0) return {};
        if (auto message = assembler_.add(frame)) return deliver(std::move(*message));
        return {};
    }

    Outcome serve_connection_method(const amqp_method_t& method) {
        if (method.id != AMQP_CONNECTION_CLOSE_METHOD) return {};
        std::string why;
        return connection_.closed_by_broker(0, method, why);
    }

    Outcome serve_consume_method(const amqp_method_t& method) {
        switch (method.id) {
            case AMQP_BASIC_DELIVER_METHOD:
                assembler_.start(*static_cast<const amqp_basic_deliver_t*>(method.decoded));
                return {};
            case AMQP_BASIC_CANCEL_METHOD:
                // When the queue or its node comes back, what we have here comes again.
                stop_trusting_deliveries();
                topology_monitor_.consumer_cancelled(queue_);
                return {};
            case AMQP_CHANNEL_CLOSE_METHOD: {
                std::string why;
                if (auto failed = connection_.closed_by_broker(consume_channel, method, why))
                    return failed;
                stop_trusting_deliveries();
                topology_monitor_.channel_closed(why);
                return {};
            }
            default: return {};
        }
    }

    Outcome deliver(Message message) {
        Unacknowledged& kept = unacknowledged_[message.tag];
        kept = {std::move(message.properties), message.headers, message.full_size,
                message.body.size()};
        if (stopping_) return {};  // it stays unacknowledged, for the next reaper
        Delivery delivery;
        delivery.ticket = {epoch_, message.tag};
        delivery.redelivered = message.redelivered;
        if (const auto how = message.headers.text(compression_header); !how.empty()) {
            if (auto whole = unpacked(message.body, how, tuning_.max_body_bytes)) {
                kept.packed = std::exchange(message.body, std::move(*whole));
            } else {
                delivery.unreadable = whole.error().what;
            }
        }
        delivery.body = std::move(message.body);
        delivery.routing_key = std::move(message.routing_key);
        dispatcher_.message(std::move(delivery));
        return {};
    }

    /// When the topology is to be checked next.
    Steady::time_point check_due() const {
        return stopping_ ? Steady::time_point::max() : topology_monitor_.due();
    }

    void wait() const {
        connection_.wait(commands_.wake_fd(), std::min(check_due(), token_.due()));
    }

    Outcome round(bool& more) {
        if (auto failed = serve_commands()) return failed;
        if (auto failed = serve_frames(more)) return failed;
        if (auto failed = token_.work()) return failed;
        return follow_token();
    }

    /// Sends what is due and says goodbye; what is delivered meanwhile stays unacknowledged. Copies
    /// that a broker does not take at present are made when their originals come again. False if
    /// the connection is lost.
    bool wind_down(Steady::time_point deadline) {
        stopping_ = true;
        bool more = false;
        const auto busy = [&] { return more || (!outbox_.idle() && !outbox_.blocked()); };
        do {
            if (round(more)) return false;
            if (!more && busy()) wait();
        } while (busy() && Steady::now() < deadline);
        if (serve_commands()) return false;
        dispatcher_.end_epoch();  // nothing is done by the lease from here on
        bool released = false;
        while (Steady::now() < deadline) {
            released = released || token_.release();
            if (released && (outbox_.tokens_settled() || outbox_.blocked())) break;
            if (serve_commands() || serve_frames(more) || token_.work()) return false;
            if (!more) wait();
        }
        return true;
    }

    Connection& connection_;
    const config::Broker& broker_;
    const AmqpTuning& tuning_;
    CommandQueue& commands_;
    Outbox& outbox_;
    Dispatcher& dispatcher_;

    struct Unacknowledged {
        ContentProperties properties;
        Headers headers;
        std::uint64_t full_size = 0;
        std::size_t handed_out = 0;  ///< bytes of the body
        std::string packed{};        ///< the body as it came, where it was unpacked
    };

    std::string queue_;
    std::uint64_t epoch_ = 0;  // 0: we do not serve
    bool serves_ = false;      // since the token was ours; epochs end sooner
    bool consuming_ = false;
    bool stopping_ = false;
    int not_consumed_ = 0;                                    // looks in a row
    std::map<std::uint64_t, Unacknowledged> unacknowledged_;  // at most `prefetch`
    FrameAssembler assembler_;
    ServingToken token_;
    TopologyMonitor topology_monitor_;
};

}  // namespace

std::optional<Error> run_session(Connection& connection, const config::Broker& broker,
                                 const AmqpTuning& tuning, CommandQueue& commands, Outbox& outbox,
                                 Dispatcher& dispatcher, const ProgressCallback& tell) {
    return Session(connection, broker, tuning, commands, outbox, dispatcher, tell).run();
}

}  // namespace reaper::amqp

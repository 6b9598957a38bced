#include "clients/amqp/amqp_session.hpp"

#include <spdlog/spdlog.h>

#include "clients/amqp/amqp_bytes.hpp"
#include "clients/amqp/amqp_topology.hpp"
#include "clients/amqp/serving_question.hpp"
#include "reaper/model/text.hpp"
#include "reaper/runtime/machine.hpp"

namespace reaper::amqp {
Session::Session(Connection& connection, const config::Broker& broker, const AmqpTuning& tuning,
                 CommandQueue& commands, Dispatcher& dispatcher, const ProgressCallback& tell)
    : connection_(connection),
      broker_(broker),
      tuning_(tuning),
      commands_(commands),
      dispatcher_(dispatcher),
      queue_(broker.temporary_queue ? unique_name(broker.queue, "dry-run") : broker.queue),
      assembler_(tuning.max_body_bytes, tuning.copy_bytes),
      dead_letters_(connection, broker, tuning),
      proof_(connection, dispatcher, queue_),
      token_(connection, queue_, tuning.token_delay, tuning.token_interval),
      topology_monitor_(connection, broker, tuning, tell) {}

std::optional<Error> Session::run() {
    for (;;) {
        if (const auto deadline = commands_.stop_deadline()) {
            wind_down(*deadline);
            dispatcher_.end_epoch();
            return std::nullopt;
        }
        bool more = false;
        Outcome failed = round(more);
        if (!failed && Steady::now() >= check_due()) {
            auto outcome = set_up();
            failed = topology_monitor_.checked(std::move(outcome), consuming_, queue_);
        }
        if (failed) {
            dispatcher_.end_epoch();
            if (commands_.stop_deadline()) return std::nullopt;
            return failed->error;
        }
        if (!more && !commands_.stop_deadline()) wait();
    }
}

Outcome Session::round(bool& more) {
    if (auto failed = serve_commands()) return failed;
    if (auto failed = dead_letters_.work(Steady::now())) return failed;
    if (auto failed = proof_.work(dead_letters_.answers_expected())) return failed;
    if (auto failed = token_.work(dead_letters_.answers_expected() && !stopping_)) return failed;
    return serve_frames(more);
}

Steady::time_point Session::check_due() const {
    if (stopping_ || !dead_letters_.answers_expected()) return Steady::time_point::max();
    return topology_monitor_.due();
}

/// A broker that answers nothing at present gets no token.
Steady::time_point Session::token_due() const {
    if (stopping_ || !dead_letters_.answers_expected()) return Steady::time_point::max();
    return token_.due();
}

void Session::wait() const {
    connection_.wait(commands_.wake_fd(),
                     std::min({check_due(), dead_letters_.due(), proof_.due(), token_due()}));
}

/// Our queue first: it may hold messages from before Nova's exchange vanished.
Outcome Session::set_up() {
    if (auto failed = declare_queue(connection_, broker_, queue_)) return failed;
    if (!broker_.temporary_queue) {
        if (auto failed = declare_dead_letter_queue(connection_, broker_)) return failed;
    }
    if (auto failed = start_consuming()) return failed;
    if (auto failed = look_for_exchange(connection_, broker_)) return failed;
    return bind_queue(connection_, broker_, queue_, "error");
}

Outcome Session::start_consuming() {
    if (consuming_) return {};
    if (epoch_ == 0) {
        // Still open if the broker only took the queue from us.
        if (auto failed = connection_.close_channel(consume_channel)) return failed;
        if (auto failed = connection_.open_channel(consume_channel)) return failed;
        begin_epoch();
    }
    const auto prefetch = std::clamp(broker_.prefetch, 1, 65'535);
    amqp_basic_qos(connection_.raw(), consume_channel, 0, static_cast<std::uint16_t>(prefetch), 0);
    auto failed = connection_.check(consume_channel, "setting the prefetch");
    if (!failed) {
        amqp_basic_consume(connection_.raw(), consume_channel, bytes(queue_), bytes("reaper"), 0, 0,
                           0, amqp_empty_table);
        failed = connection_.check(consume_channel, "consuming queue '" + queue_ + "'");
    }
    if (failed) stop_trusting_deliveries();
    consuming_ = !failed;
    if (consuming_ && broker_.temporary_queue) dispatcher_.serving();
    if (consuming_ && !broker_.temporary_queue) token_.start();
    return failed;
}

/// Nobody else owns a temporary queue, so that its deliveries need no proof.
void Session::begin_epoch() {
    std::optional<std::chrono::milliseconds> lease;
    if (!broker_.temporary_queue) {
        lease = lease_for(connection_.heartbeat());
        proof_.start(*lease);
    }
    epoch_ = dispatcher_.new_epoch(BootClock::now(), lease);
}

/// The channel is gone or of no use, and the broker delivers all of it again.
void Session::stop_trusting_deliveries() {
    dispatcher_.end_epoch();
    proof_.stop();
    token_.stop();
    epoch_ = 0;
    consuming_ = false;
    unacknowledged_.clear();
    assembler_.reset();
    dead_letters_.forget();
}

Outcome Session::serve_commands() {
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

Outcome Session::acknowledge(std::uint64_t tag) {
    if (unacknowledged_.erase(tag) == 0) return {};
    return connection_.check_status(amqp_basic_ack(connection_.raw(), consume_channel, tag, 0),
                                    "acknowledging");
}

void Session::set_aside(Command command) {
    const Unacknowledged& original = unacknowledged_.at(command.ticket.tag);
    Copy copy;
    copy.delivery_tag = command.ticket.tag;
    copy.properties = original.properties;
    copy.body = std::move(command.delivery.body);
    copy.routing_key = std::move(command.delivery.routing_key);
    copy.reason = std::move(*command.set_aside_because);
    if (original.full_size > original.handed_out) {
        copy.reason = fmt::format(
            "the message has {} bytes, more than the {} that are taken; {} "
            "are kept; {}",
            original.full_size, tuning_.max_body_bytes, original.handed_out, copy.reason);
    }
    dead_letters_.add(std::move(copy));
}

Outcome Session::deliver(Message message) {
    token_.stop();
    dispatcher_.serving();
    const bool token = is_serving_token(message.properties);
    const bool question = is_serving_question(message.properties);
    // While the broker takes nothing from us, nobody gets an answer.
    if (question && !stopping_ && dead_letters_.answers_expected()) {
        const ActiveReaper self{machine_name(), broker_.journal};
        if (auto failed = token_.answer(message.properties, self)) return failed;
    }
    unacknowledged_[message.tag] = {std::move(message.properties), message.full_size,
                                    message.body.size()};
    if (stopping_) return {};  // it stays unacknowledged, for the next reaper
    if (token || question) return acknowledge(message.tag);
    Delivery delivery;
    delivery.ticket = {epoch_, message.tag};
    delivery.body = std::move(message.body);
    delivery.routing_key = std::move(message.routing_key);
    delivery.redelivered = message.redelivered;
    dispatcher_.message(std::move(delivery));
    return {};
}

/// Sends what is due and says goodbye; what is delivered meanwhile stays unacknowledged. A blocked
/// broker would not answer: what was sent to it is read when it reads again.
void Session::wind_down(Steady::time_point deadline) {
    stopping_ = true;
    bool more = false;
    do {
        if (round(more)) return;
        if (!more && !dead_letters_.idle()) wait();
    } while (!dead_letters_.blocked() && Steady::now() < deadline &&
             (more || !dead_letters_.idle()));
    if (dead_letters_.blocked() || serve_commands()) return;
    connection_.close(
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Steady::now()));
}

}  // namespace reaper::amqp

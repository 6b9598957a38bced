#include "clients/amqp/publisher.hpp"

#include <spdlog/spdlog.h>

#include "clients/amqp/amqp_bytes.hpp"
#include "clients/amqp/amqp_topology.hpp"
#include "clients/amqp/serving_question.hpp"
#include "clients/amqp/serving_token.hpp"
#include "reaper/model/text.hpp"
#include "reaper/runtime/machine.hpp"

namespace reaper::amqp {
namespace {

constexpr int frames_of_a_round = 64;

}  // namespace

PublisherSession::PublisherSession(Connection& connection, const config::Broker& broker,
                                   const AmqpTuning& tuning, Outbox& outbox)
    : connection_(connection),
      broker_(broker),
      outbox_(outbox),
      dead_letters_(connection, broker, tuning, outbox) {}

PublisherSession::~PublisherSession() {
    outbox_.set_blocked(false);
    outbox_.tokens_lost();
}

std::optional<Error> PublisherSession::run() {
    for (;;) {
        if (const auto deadline = outbox_.stop_deadline()) {
            connection_.close(
                std::chrono::duration_cast<std::chrono::milliseconds>(*deadline - Steady::now()));
            return std::nullopt;
        }
        outbox_.seen();
        bool more = false;
        if (auto failed = round(more)) {
            if (outbox_.stop_deadline()) return std::nullopt;
            return failed->error;
        }
        if (!more && !outbox_.stop_deadline())
            connection_.wait(outbox_.wake_fd(), dead_letters_.due());
    }
}

Outcome PublisherSession::round(bool& more) {
    if (auto failed = connection_.read_frames(
            frames_of_a_round, more, [this](const amqp_frame_t& frame) { return serve(frame); })) {
        return failed;
    }
    if (auto failed = dead_letters_.work(Steady::now())) return failed;
    if (auto failed = publish_token()) return failed;
    return answer_questions();
}

Outcome PublisherSession::serve(const amqp_frame_t& frame) {
    // The content of a returned copy is of no use.
    if (frame.frame_type != AMQP_FRAME_METHOD) return {};
    switch (frame.channel) {
        case 0: return serve_connection_method(frame.payload.method);
        case publish_channel: return dead_letters_.serve(frame.payload.method);
        case token_channel: return serve_token_method(frame.payload.method);
        case answer_channel: return serve_answer_method(frame.payload.method);
        default: return {};
    }
}

Outcome PublisherSession::serve_connection_method(const amqp_method_t& method) {
    switch (method.id) {
        case AMQP_CONNECTION_BLOCKED_METHOD:
            spdlog::warn(
                "{}: the broker takes no messages at present ({}); dead-letter copies wait",
                connection_.name(),
                printable(view(static_cast<amqp_connection_blocked_t*>(method.decoded)->reason)));
            [[fallthrough]];
        case AMQP_CONNECTION_UNBLOCKED_METHOD:
            blocked_ = method.id == AMQP_CONNECTION_BLOCKED_METHOD;
            dead_letters_.set_blocked(blocked_);
            outbox_.set_blocked(blocked_);
            return {};
        case AMQP_CONNECTION_CLOSE_METHOD: {
            std::string why;
            return connection_.closed_by_broker(0, method, why);
        }
        default: return {};
    }
}

/// By the default exchange, which knows every queue by its name; on a channel of its own, for a
/// refusal closes it.
Outcome PublisherSession::publish_token() {
    if (blocked_ || !outbox_.take_token()) return {};
    if (!token_channel_open_) {
        if (auto failed = connection_.open_channel(token_channel)) return failed;
        amqp_confirm_select(connection_.raw(), token_channel);
        if (auto failed = connection_.check(token_channel, "asking for confirmations"))
            return failed->fatal ? failed : Outcome();
        token_channel_open_ = true;
    }
    const ContentProperties token = new_serving_token();
    const amqp_basic_properties_t properties = token.raw(amqp_empty_table);
    const std::string queue = serving_queue(broker_).name;
    const int status =
        amqp_basic_publish(connection_.raw(), token_channel, amqp_empty_bytes, bytes(queue), 0, 0,
                           &properties, bytes("the reaper that holds this message serves"));
    return connection_.check_status(status, "putting a token into queue '" + queue + "'");
}

Outcome PublisherSession::serve_token_method(const amqp_method_t& method) {
    if (method.id == AMQP_BASIC_ACK_METHOD) outbox_.token_settled(std::nullopt);
    if (method.id == AMQP_BASIC_NACK_METHOD) outbox_.tokens_lost();  // there are enough of them
    if (method.id != AMQP_CHANNEL_CLOSE_METHOD) return {};
    std::string why;
    if (auto failed = connection_.closed_by_broker(token_channel, method, why)) return failed;
    token_channel_open_ = false;
    outbox_.token_settled(why +
                          ": the user needs the right to write to amq.default "
                          "(rabbitmqctl set_permissions); without it no reaper serves");
    return {};
}

/// A client waits for seconds: while the broker takes no messages, there is no answer.
Outcome PublisherSession::answer_questions() {
    while (const auto mailbox = outbox_.take_mailbox()) {
        if (blocked_) continue;
        if (!answer_channel_open_)
            if (auto failed = connection_.open_channel(answer_channel)) return failed;
        answer_channel_open_ = true;
        const ActiveReaper self{machine_name(), broker_.journal};
        if (auto failed = answer_who_serves(connection_, answer_channel, *mailbox, self))
            return failed;
    }
    return {};
}

/// The mailbox is gone.
Outcome PublisherSession::serve_answer_method(const amqp_method_t& method) {
    if (method.id != AMQP_CHANNEL_CLOSE_METHOD) return {};
    std::string why;
    answer_channel_open_ = false;
    return connection_.closed_by_broker(answer_channel, method, why);
}

}  // namespace reaper::amqp

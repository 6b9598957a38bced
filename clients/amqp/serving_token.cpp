#include "clients/amqp/serving_token.hpp"

#include <algorithm>

#include "clients/amqp/amqp_bytes.hpp"

namespace reaper::amqp {
namespace {

const std::string question_type = "reaper.who-serves";
const std::string answer_type = "reaper.serves";
/// RabbitMQ's direct reply-to; in a message that is delivered, with a dot and more.
const std::string own_mailbox = "amq.rabbitmq.reply-to";
const std::string question_content = "application/json";
/// For versions that do not know it: a notification of a kind that they pass over.
const std::string question_body =
    R"({"event_type": "reaper.who-serves", "message_id": "", "payload": {}})";
constexpr std::size_t longest_property = 255;  // AMQP's

Outcome publish(Connection& connection, amqp_channel_t channel, const std::string& to,
                const amqp_basic_properties_t& properties, const std::string& body,
                const std::string& doing) {
    return connection.check_status(amqp_basic_publish(connection.raw(), channel, amqp_empty_bytes,
                                                      bytes(to), 0, 0, &properties, bytes(body)),
                                   doing);
}

}  // namespace

bool is_serving_question(const ContentProperties& properties) {
    return properties.type == question_type && properties.reply_to.starts_with(own_mailbox + ".");
}

Outcome open_mailbox(Connection& connection, amqp_channel_t channel) {
    if (auto failed = connection.open_channel(channel)) return failed;
    amqp_basic_consume(connection.raw(), channel, bytes(own_mailbox), amqp_empty_bytes, 0, 1, 0,
                       amqp_empty_table);
    return connection.check(channel, "consuming the mailbox for answers");
}

Outcome ask_who_serves(Connection& connection, amqp_channel_t channel, const std::string& queue,
                       std::chrono::milliseconds patience) {
    const std::string expiration = std::to_string(patience.count());
    amqp_basic_properties_t properties{};
    properties._flags = AMQP_BASIC_TYPE_FLAG | AMQP_BASIC_CONTENT_TYPE_FLAG |
                        AMQP_BASIC_EXPIRATION_FLAG | AMQP_BASIC_REPLY_TO_FLAG;
    properties.type = bytes(question_type);
    properties.content_type = bytes(question_content);
    properties.expiration = bytes(expiration);
    properties.reply_to = bytes(own_mailbox);
    return publish(connection, channel, queue, properties, question_body,
                   "asking who serves queue '" + queue + "'");
}

Outcome answer_who_serves(Connection& connection, amqp_channel_t channel,
                          const std::string& mailbox, const ActiveReaper& who) {
    const std::string machine = who.machine.substr(0, longest_property);
    const std::string journal = who.journal.substr(0, longest_property);
    amqp_basic_properties_t properties{};
    properties._flags = AMQP_BASIC_TYPE_FLAG | AMQP_BASIC_APP_ID_FLAG | AMQP_BASIC_MESSAGE_ID_FLAG;
    properties.type = bytes(answer_type);
    properties.app_id = bytes(machine);
    properties.message_id = bytes(journal);
    return publish(connection, channel, mailbox, properties, {}, "answering who serves the queue");
}

std::optional<ActiveReaper> read_answer(const ContentProperties& properties) {
    if (properties.type != answer_type) return std::nullopt;
    return ActiveReaper{properties.app_id, properties.message_id};
}

namespace {

const std::string token_type = "reaper.serving";
constexpr int proofs_per_lease = 4;
/// Then a new one takes its place: a broker may drop what comes back too often, and keeps its log
/// from the oldest message on.
constexpr int most_returns = 10;
constexpr std::size_t most_of_a_body = 1024;
/// All tokens at once, so that none waits in the queue behind one that no reaper had.
constexpr std::uint16_t tokens_at_once = 200;

}  // namespace

ContentProperties new_serving_token() {
    ContentProperties token;
    token.type = token_type;
    token.content_type = "text/plain";
    token.message_id = unique_name("reaper", "token");
    return token;
}

bool is_serving_token(const ContentProperties& properties) {
    return properties.type == token_type;
}

ServingToken::ServingToken(Connection& connection, const config::Broker& broker,
                           const AmqpTuning& tuning, Outbox& outbox)
    : connection_(connection),
      outbox_(outbox),
      queue_(serving_queue(broker)),
      lease_(lease_for(connection.heartbeat())),
      token_delay_(tuning.token_delay),
      token_pause_(tuning.token_interval, 6 * tuning.token_interval),
      assembler_(most_of_a_body, 0) {}

Outcome ServingToken::open() {
    if (consuming_) return {};
    if (auto failed = declare_queue(connection_, queue_)) return failed;
    if (auto failed = connection_.open_channel(serving_channel)) return failed;
    amqp_basic_qos(connection_.raw(), serving_channel, 0, tokens_at_once, 0);
    if (auto failed = connection_.check(serving_channel, "setting the prefetch")) return failed;
    amqp_basic_consume(connection_.raw(), serving_channel, bytes(queue_.name), bytes("reaper"), 0,
                       0, 0, amqp_empty_table);
    if (auto failed = connection_.check(serving_channel, "consuming queue '" + queue_.name + "'")) {
        return failed;
    }
    consuming_ = true;
    token_pause_.reset();
    token_due_ = Steady::now() + token_delay_;
    return {};
}

Outcome ServingToken::look(bool& consumed) {
    QueueCounts counts;
    if (auto failed = look_at_queue(connection_, queue_.name, counts)) return failed;
    consumed = counts.consumers > 0;
    return {};
}

Steady::time_point ServingToken::due() const {
    if (!consuming_ || lost_) return Steady::time_point::max();
    if (!token_) return ending_ ? Steady::time_point::max() : token_due_;
    const auto now = BootClock::now();
    auto wait = proved_.value_or(since_) + lease_ - now;
    if (serves_from_ > now) wait = std::min(wait, serves_from_ - now);
    const auto next = Steady::now() + wait;
    return sent_at_ || ending_ ? next : std::min(next, send_due_);
}

Outcome ServingToken::work() {
    if (!consuming_ || lost_) return {};
    if (!token_) {
        if (ending_ || Steady::now() < token_due_) return {};
        token_due_ = Steady::now() + token_pause_.next();
        outbox_.publish_token();
        return {};
    }
    lost_ = ran_out(BootClock::now());
    if (lost_ || sent_at_ || ending_ || Steady::now() < send_due_) return {};
    return send_back();
}

/// The clock is read before the token leaves: what proves something happened after that.
Outcome ServingToken::send_back() {
    sent_at_ = BootClock::now();
    send_due_ = Steady::now() + lease_ / proofs_per_lease;
    return connection_.check_status(
        amqp_basic_reject(connection_.raw(), serving_channel, token_->tag, 1),
        "sending a token back");
}

bool ServingToken::ran_out(Time now) const {
    return now - proved_.value_or(since_) >= lease_;
}

Outcome ServingToken::serve(const amqp_frame_t& frame) {
    if (frame.frame_type == AMQP_FRAME_METHOD) return serve_method(frame.payload.method);
    if (!consuming_) return {};
    if (const auto message = assembler_.add(frame)) return take(*message);
    return {};
}

Outcome ServingToken::serve_method(const amqp_method_t& method) {
    switch (method.id) {
        case AMQP_BASIC_DELIVER_METHOD:
            assembler_.start(*static_cast<const amqp_basic_deliver_t*>(method.decoded));
            return {};
        case AMQP_BASIC_CANCEL_METHOD:  // the queue was deleted, or its node is lost
            lost_ = true;
            return {};
        case AMQP_CHANNEL_CLOSE_METHOD: {
            std::string why;
            auto failed = connection_.closed_by_broker(serving_channel, method, why);
            lost_ = true;
            return failed;
        }
        default: return {};
    }
}

Outcome ServingToken::take(const Message& message) {
    if (!is_serving_token(message.properties)) {
        if (proved() && is_serving_question(message.properties))
            outbox_.answer(message.properties.reply_to);
        return acknowledge(message.tag);
    }
    const std::string& id = message.properties.message_id;
    if (token_ && sent_at_ && token_->id == id) return came_back(message.tag);
    const auto now = BootClock::now();
    Token token{message.tag, id, 0};
    if (!token_) {
        token_ = std::move(token);
        since_ = now;
        serves_from_ = message.redelivered ? now + lease_ : now;
        send_due_ = Steady::now();
        return {};
    }
    if (message.redelivered) {
        // Another one had it. Before we serve, that is one more of those of the one before us.
        if (proved()) lost_ = true;
        serves_from_ = now + lease_;
        return acknowledge(message.tag);
    }
    if (newer_) return acknowledge(message.tag);
    if (sent_at_) {
        newer_ = std::move(token);
        return {};
    }
    const std::uint64_t older = token_->tag;
    token_ = std::move(token);
    return acknowledge(older);
}

Outcome ServingToken::came_back(std::uint64_t tag) {
    if (ran_out(BootClock::now())) {
        lost_ = true;
        return {};
    }
    proved_ = *std::exchange(sent_at_, std::nullopt);
    token_->tag = tag;
    if (newer_) {
        token_ = *std::exchange(newer_, std::nullopt);
        return acknowledge(tag);
    }
    if (++token_->returns >= most_returns && outbox_.tokens_settled()) outbox_.publish_token();
    return {};
}

std::optional<ServingToken::Time> ServingToken::proved() const {
    const auto now = BootClock::now();
    if (lost_ || !token_ || !proved_ || now < serves_from_ || ran_out(now)) return std::nullopt;
    return proved_;
}

Outcome ServingToken::close() {
    forget();
    return connection_.close_channel(serving_channel);
}

void ServingToken::forget() {
    consuming_ = false;
    lost_ = false;
    token_.reset();
    newer_.reset();
    sent_at_.reset();
    proved_.reset();
    assembler_.reset();
}

/// As soon as we leave the queue, tokens go to the next one.
bool ServingToken::release() {
    ending_ = true;
    if (lost_ || !token_) return true;
    if (sent_at_) return false;
    const bool settled = outbox_.tokens_settled();
    if (consuming_ && settled) {
        consuming_ = false;
        amqp_basic_cancel(connection_.raw(), serving_channel, bytes("reaper"));
        if (connection_.check(serving_channel, "leaving queue '" + queue_.name + "'")) return true;
        outbox_.publish_token();
        return false;
    }
    if (!settled) return outbox_.blocked();
    // The broker has the new one: this one is no longer needed.
    if (outbox_.token_confirmed() && acknowledge(token_->tag)) return true;
    forget();
    return true;
}

Outcome ServingToken::acknowledge(std::uint64_t tag) {
    return connection_.check_status(amqp_basic_ack(connection_.raw(), serving_channel, tag, 0),
                                    "acknowledging a token");
}

}  // namespace reaper::amqp

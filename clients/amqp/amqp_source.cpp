#include "clients/amqp/amqp_source.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "clients/amqp/amqp_bytes.hpp"
#include "clients/amqp/amqp_topology.hpp"
#include "clients/amqp/compression.hpp"
#include "clients/amqp/connection_thread.hpp"
#include "clients/amqp/dispatcher.hpp"
#include "clients/amqp/executor_bridge.hpp"
#include "clients/amqp/frame_assembler.hpp"
#include "clients/amqp/outbox.hpp"
#include "clients/amqp/rabbitmq_c.hpp"
#include "clients/amqp/serving_token.hpp"
#include "reaper/model/text.hpp"
#include "reaper/runtime/backoff.hpp"
#include "reaper/runtime/log.hpp"
#include "reaper/runtime/machine.hpp"

namespace reaper {
namespace amqp {
namespace {

// Life on one connection to the broker: declares, binds, consumes and acknowledges while this
// reaper serves (serving_token.hpp), until the connection is lost or a stop is asked for. It
// publishes nothing: the outbox wakes the publisher for that. It runs in the connection's thread.

/// A node that is starting may see none briefly.
constexpr int most_looks_without_consumer = 2;
constexpr int frames_of_a_round = 64;  // so that a flood does not keep acknowledgements waiting

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
        for (;;) {
            if (const auto deadline = commands_.stop_deadline()) {
                wind_down(*deadline);
                stop_trusting_deliveries();
                return std::nullopt;
            }
            bool more = false;
            Outcome failed = round(more);
            if (!failed && Steady::now() >= check_due()) {
                auto outcome = set_up();
                failed = topology_monitor_.checked(std::move(outcome),
                                                   consuming_ || token_.consuming(), queue_);
            }
            if (failed) {
                stop_trusting_deliveries();
                if (commands_.stop_deadline()) return std::nullopt;
                return failed->error;
            }
            if (!more && !commands_.stop_deadline()) wait();
        }
    }

private:
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
    /// that a broker does not take at present are made when their originals come again.
    void wind_down(Steady::time_point deadline) {
        stopping_ = true;
        bool more = false;
        const auto busy = [&] { return more || (!outbox_.idle() && !outbox_.blocked()); };
        do {
            if (round(more)) return;
            if (!more && busy()) wait();
        } while (busy() && Steady::now() < deadline);
        if (serve_commands()) return;
        dispatcher_.end_epoch();  // nothing is done by the lease from here on
        bool released = false;
        while (Steady::now() < deadline) {
            released = released || token_.release();
            if (released && (outbox_.tokens_settled() || outbox_.blocked())) break;
            if (serve_commands() || serve_frames(more) || token_.work()) return;
            if (!more) wait();
        }
        connection_.close(
            std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Steady::now()));
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

// The connection that publishes: dead-letter copies and serving tokens. Takes its work from
// the outbox.

// Keeps copies of messages that were set aside in the dead-letter queue. One copy is on its way at
// a time: the broker's `return` of an unroutable copy does not say which one it means.
// Used by the publisher's thread only.

constexpr std::size_t max_header_bytes = 2000;
constexpr auto retry_first = std::chrono::milliseconds(200);
constexpr auto retry_most = std::chrono::milliseconds(5'000);

/// Of an original's headers; one with more keeps none, as a frame has to hold all of them.
constexpr std::size_t max_kept_headers = 64UL * 1024;

/// What the sender wrote; what a reaper added to an earlier copy is added again.
std::vector<amqp_table_entry_t> own_headers(const Headers& headers) {
    std::vector<amqp_table_entry_t> entries;
    amqp_table_t all = headers.raw();
    std::string room(max_kept_headers, '\0');
    std::size_t written = 0;
    if (amqp_encode_table(bytes(room), &all, &written) != AMQP_STATUS_OK) return entries;
    for (int i = 0; i < all.num_entries; ++i)
        if (!view(all.entries[i].key).starts_with(copy_header_prefix))
            entries.push_back(all.entries[i]);
    return entries;
}

std::uint64_t seconds_now() {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return static_cast<std::uint64_t>(std::chrono::floor<std::chrono::seconds>(now).count());
}

class DeadLetters {
public:
    /// All references must outlive it.
    DeadLetters(Connection& connection, const config::Broker& broker, const AmqpTuning& tuning,
                Outbox& outbox)
        : connection_(connection),
          broker_(broker),
          tuning_(tuning),
          outbox_(outbox),
          backoff_(retry_first, retry_most) {}

    /// What is on its way goes back into the outbox.
    ~DeadLetters() {
        if (sent_) outbox_.give_back(std::move(*sent_));
    }

    DeadLetters& operator=(DeadLetters&&) = delete;

    /// The broker takes no messages at present (its memory or disk is full), or does again.
    void set_blocked(bool blocked) {
        blocked_ = blocked;
        deadline_ = Steady::now() + tuning_.answer_timeout;  // a copy on its way is confirmed now
    }

    /// Sends the next copy, if it is time for it, and gives up waiting for a late confirmation.
    Outcome work(Steady::time_point now) {
        if (blocked_) return {};
        if (sent_ && now >= deadline_) failed("the broker did not confirm it in time");
        if (sent_ || now < not_before_) return {};
        sent_ = outbox_.take_copy();
        if (!sent_) return {};
        if (auto refusal = open()) {
            if (refusal->fatal) return refusal;
            failed(refusal->error.what);
            return {};
        }
        returned_ = false;
        deadline_ = now + tuning_.answer_timeout;
        return send(*sent_);
    }

    /// When `work` is next needed; news in the outbox aside.
    Steady::time_point due() const {
        if (blocked_) return Steady::time_point::max();
        if (sent_) return deadline_;
        return outbox_.has_copies() ? not_before_ : Steady::time_point::max();
    }

    /// A method that came on the publishing channel.
    Outcome serve(const amqp_method_t& method) {
        switch (method.id) {
            case AMQP_BASIC_ACK_METHOD: {
                const auto& ack = *static_cast<const amqp_basic_ack_t*>(method.decoded);
                if (matches(ack.delivery_tag, ack.multiple != 0)) confirmed();
                return {};
            }
            case AMQP_BASIC_NACK_METHOD: {
                const auto& nack = *static_cast<const amqp_basic_nack_t*>(method.decoded);
                if (matches(nack.delivery_tag, nack.multiple != 0))
                    failed("the broker could not store it");
                return {};
            }
            case AMQP_BASIC_RETURN_METHOD: returned_ = sent_.has_value(); return {};
            case AMQP_CHANNEL_CLOSE_METHOD: {
                std::string why;
                if (auto lost = connection_.closed_by_broker(publish_channel, method, why))
                    return lost;
                open_ = false;
                if (sent_) failed(why);
                return {};
            }
            default: return {};
        }
    }

private:
    Outcome open() {
        if (open_) return {};
        if (auto failure = connection_.open_channel(publish_channel)) return failure;
        amqp_confirm_select(connection_.raw(), publish_channel);
        if (auto failure = connection_.check(publish_channel, "asking for confirmations")) {
            return failure;
        }
        sequence_ = 0;
        open_ = true;
        return {};
    }

    Outcome send(const Copy& copy) {
        Table headers;
        headers.add("x-reaper-reason", printable(copy.reason, max_header_bytes));
        headers.add("x-reaper-routing-key", printable(copy.routing_key));
        headers.add_time("x-reaper-time", seconds_now());
        if (copy.full_size > copy.body.size())
            headers.add_integer(cut_header, static_cast<std::int64_t>(copy.full_size));
        std::vector<amqp_table_entry_t> entries = own_headers(copy.headers);
        const amqp_table_t added = headers.raw();
        entries.insert(entries.end(), added.entries, added.entries + added.num_entries);
        const amqp_table_t table{static_cast<int>(entries.size()), entries.data()};
        const amqp_basic_properties_t properties = copy.properties.raw(table);
        constexpr amqp_boolean_t mandatory = 1;
        ++sequence_;
        const int status = amqp_basic_publish(connection_.raw(), publish_channel, amqp_empty_bytes,
                                              bytes(broker_.dead_letter_queue), mandatory, 0,
                                              &properties, bytes(copy.body));
        return connection_.check_status(status, "sending a dead-letter copy");
    }

    /// Others are of a copy that we gave up.
    bool matches(std::uint64_t sequence, bool multiple) const {
        return sent_ &&
               (sequence == sequence_ || (multiple && (sequence == 0 || sequence > sequence_)));
    }

    void confirmed() {
        if (returned_) {
            outbox_.queue_missing();
            return failed("there is no queue '" + broker_.dead_letter_queue + "'");
        }
        backoff_.reset();
        outbox_.stored(*sent_);
        sent_.reset();
    }

    void failed(const std::string& why) {
        Copy copy = std::move(*sent_);
        sent_.reset();
        const auto pause = backoff_.next();
        not_before_ = Steady::now() + pause;
        if (++copy.tries < tuning_.copy_tries) {
            outbox_.give_back(std::move(copy));
            return;
        }
        outbox_.drop();
        spdlog::error(
            "no dead-letter copy after {} tries ({}); the message stays in queue '{}', "
            "unacknowledged, "
            "and comes again after the next reconnection; it was set aside because: {}",
            copy.tries, why, broker_.queue, printable(copy.reason));
    }

    Connection& connection_;
    const config::Broker& broker_;
    const AmqpTuning& tuning_;
    Outbox& outbox_;
    std::optional<Copy> sent_;
    bool returned_ = false;
    bool blocked_ = false;
    bool open_ = false;
    std::uint64_t sequence_ = 0;  // of the last copy sent on this channel
    Steady::time_point deadline_{};
    Steady::time_point not_before_{};
    GrowingPause backoff_;
};

/// Life on one connection, in the publisher's thread.
class PublisherSession {
public:
    /// All references must outlive the session.
    PublisherSession(Connection& connection, const config::Broker& broker, const AmqpTuning& tuning,
                     Outbox& outbox)
        : connection_(connection),
          broker_(broker),
          outbox_(outbox),
          dead_letters_(connection, broker, tuning, outbox) {}

    ~PublisherSession() {
        outbox_.set_blocked(false);
        outbox_.tokens_lost();
    }

    PublisherSession& operator=(PublisherSession&&) = delete;

    /// Why the connection was lost; none after a stop.
    std::optional<Error> run() {
        for (;;) {
            if (const auto deadline = outbox_.stop_deadline()) {
                connection_.close(std::chrono::duration_cast<std::chrono::milliseconds>(
                    *deadline - Steady::now()));
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

private:
    Outcome round(bool& more) {
        if (auto failed = connection_.read_frames(
                frames_of_a_round, more,
                [this](const amqp_frame_t& frame) { return serve(frame); })) {
            return failed;
        }
        if (auto failed = dead_letters_.work(Steady::now())) return failed;
        if (auto failed = publish_token()) return failed;
        return answer_questions();
    }

    Outcome serve(const amqp_frame_t& frame) {
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

    Outcome serve_connection_method(const amqp_method_t& method) {
        switch (method.id) {
            case AMQP_CONNECTION_BLOCKED_METHOD:
                spdlog::warn(
                    "{}: the broker takes no messages at present ({}); dead-letter copies wait",
                    connection_.name(),
                    printable(
                        view(static_cast<amqp_connection_blocked_t*>(method.decoded)->reason)));
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

    Outcome serve_token_method(const amqp_method_t& method) {
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

    /// By the default exchange, which knows every queue by its name; on a channel of its own, for a
    /// refusal closes it.
    Outcome publish_token() {
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
            amqp_basic_publish(connection_.raw(), token_channel, amqp_empty_bytes, bytes(queue), 0,
                               0, &properties, bytes("the reaper that holds this message serves"));
        return connection_.check_status(status, "putting a token into queue '" + queue + "'");
    }

    /// A client waits for seconds: while the broker takes no messages, there is no answer.
    Outcome answer_questions() {
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
    Outcome serve_answer_method(const amqp_method_t& method) {
        if (method.id != AMQP_CHANNEL_CLOSE_METHOD) return {};
        std::string why;
        answer_channel_open_ = false;
        return connection_.closed_by_broker(answer_channel, method, why);
    }

    Connection& connection_;
    const config::Broker& broker_;
    Outbox& outbox_;
    DeadLetters dead_letters_;
    bool blocked_ = false;
    bool token_channel_open_ = false;
    bool answer_channel_open_ = false;
};

}  // namespace
}  // namespace amqp

namespace {

using amqp::Command;
using amqp::Dispatcher;

/// What the threads share with the source; lives as long as one of them.
struct SourceState {
    config::Broker broker;
    AmqpTuning tuning;
    amqp::CommandQueue commands;
    amqp::Outbox outbox{commands};
    amqp::ConnectionAborter aborter;
    amqp::ConnectionAborter publisher_aborter;
    std::shared_ptr<Dispatcher> dispatcher;

    void consume() {
        const auto live = [this](amqp::Connection& connection, const amqp::ProgressCallback& tell) {
            return amqp::Session(connection, broker, tuning, commands, outbox, *dispatcher, tell)
                .run();
        };
        const auto state = [this](bool consuming, const std::string& detail, bool refused) {
            dispatcher->state({consuming, detail, refused});
        };
        amqp::Worker(broker, tuning.answer_timeout, commands, aborter, live, state).run();
    }

    void publish() {
        const auto live = [this](amqp::Connection& connection, const amqp::ProgressCallback&) {
            return amqp::PublisherSession(connection, broker, tuning, outbox).run();
        };
        // The consumer reports errors of the same broker.
        const auto state = [](bool, const std::string& detail, bool) {
            spdlog::debug("publishing: {}", detail);
        };
        amqp::Worker(broker, tuning.answer_timeout, outbox, publisher_aborter, live, state).run();
    }
};

/// Only the end of the publisher's thread is reported.
class PublisherBridge final : public amqp::ExecutorBridge {
public:
    using ExecutorBridge::ExecutorBridge;

private:
    void forget_handlers() override {}
};

class AmqpSource final : public MessageSource {
public:
    AmqpSource(boost::asio::any_io_executor executor, const config::Broker& broker,
               const AmqpTuning& tuning)
        : executor_(executor),
          shared_(std::make_shared<SourceState>()),
          publisher_(executor),
          consumer_(executor) {
        shared_->broker = broker;
        shared_->tuning = tuning;
    }

    void start(Handlers handlers) override {
        if (shared_->dispatcher) return;  // started before
        shared_->dispatcher =
            std::make_shared<Dispatcher>(executor_, std::move(handlers), consumer_.on_finished());
        consumer_.start("amqp", shared_->dispatcher, {shared_, &shared_->commands},
                        {shared_, &shared_->aborter}, [shared = shared_] { shared->consume(); });
        if (shared_->broker.temporary_queue) return;
        publisher_.start("amqp-publish",
                         std::make_shared<PublisherBridge>(executor_, publisher_.on_finished()),
                         {shared_, &shared_->outbox}, {shared_, &shared_->publisher_aborter},
                         [shared = shared_] { shared->publish(); });
    }

    bool holds(const DeliveryTicket& ticket) const override {
        return shared_->dispatcher && shared_->dispatcher->holds(ticket);
    }

    void acknowledge(DeliveryTicket ticket) override {
        if (!shared_->dispatcher || !shared_->dispatcher->answer(ticket)) return;
        shared_->commands.push(Command{ticket, std::nullopt, {}});
    }

    void set_aside(Delivery delivery, std::string reason) override {
        const DeliveryTicket ticket = delivery.ticket;
        if (!shared_->dispatcher || !shared_->dispatcher->answer(ticket)) return;
        shared_->commands.push(Command{ticket, std::move(reason), std::move(delivery)});
    }

    std::uint64_t serving() const override {
        return shared_->dispatcher ? shared_->dispatcher->serving_epoch() : 0;
    }

    /// The publisher last: until then, copies are stored whose originals are acknowledged.
    Task<void> stop() override {
        co_await consumer_.stop(shared_->tuning.stop_timeout);
        co_await publisher_.stop(shared_->tuning.stop_timeout);
    }

private:
    boost::asio::any_io_executor executor_;
    std::shared_ptr<SourceState> shared_;
    amqp::ConnectionThread publisher_;
    amqp::ConnectionThread consumer_;  // ends first
};

}  // namespace

std::unique_ptr<MessageSource> make_amqp_source(boost::asio::any_io_executor executor,
                                                const config::Broker& broker,
                                                const AmqpTuning& tuning) {
    return std::make_unique<AmqpSource>(std::move(executor), broker, tuning);
}

}  // namespace reaper

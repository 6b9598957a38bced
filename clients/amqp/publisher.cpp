#include "clients/amqp/publisher.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "clients/amqp/amqp_bytes.hpp"
#include "clients/amqp/amqp_topology.hpp"
#include "clients/amqp/connection_thread.hpp"
#include "clients/amqp/frame_assembler.hpp"
#include "clients/amqp/rabbitmq_c.hpp"
#include "clients/amqp/serving_token.hpp"
#include "reaper/model/text.hpp"
#include "reaper/runtime/backoff.hpp"
#include "reaper/runtime/log.hpp"
#include "reaper/runtime/machine.hpp"

namespace reaper::amqp {
namespace {

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

// Keeps copies of messages that were set aside in the dead-letter queue. One copy is on its way at
// a time: the broker's `return` of an unroutable copy does not say which one it means.

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
        return live_until_stop(connection_, outbox_, [this] { return turn(); });
    }

private:
    Outcome turn() {
        outbox_.seen();
        bool more = false;
        if (auto failed = round(more)) return failed;
        if (!more && !outbox_.stop_deadline())
            connection_.wait(outbox_.wake_fd(), dead_letters_.due());
        return {};
    }

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

std::optional<Error> run_publisher(Connection& connection, const config::Broker& broker,
                                   const AmqpTuning& tuning, Outbox& outbox) {
    return PublisherSession(connection, broker, tuning, outbox).run();
}

}  // namespace reaper::amqp

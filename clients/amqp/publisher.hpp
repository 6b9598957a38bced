// The connection that publishes: dead-letter copies and serving tokens. Takes its work from
// the outbox. Internal to clients/amqp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "clients/amqp/amqp_connection.hpp"
#include "clients/amqp/amqp_source.hpp"
#include "clients/amqp/executor_bridge.hpp"
#include "clients/amqp/outbox.hpp"
#include "reaper/runtime/backoff.hpp"

namespace reaper::amqp {

// Keeps copies of messages that were set aside in the dead-letter queue. One copy is on its way at
// a time: the broker's `return` of an unroutable copy does not say which one it means.
// Internal to clients/amqp; used by the publisher's thread only.

class DeadLetters {
public:
    /// All references must outlive it.
    DeadLetters(Connection& connection, const config::Broker& broker, const AmqpTuning& tuning,
                Outbox& outbox);
    /// What is on its way goes back into the outbox.
    ~DeadLetters();
    DeadLetters& operator=(DeadLetters&&) = delete;

    /// The broker takes no messages at present (its memory or disk is full), or does again.
    void set_blocked(bool blocked);
    /// Sends the next copy, if it is time for it, and gives up waiting for a late confirmation.
    Outcome work(Steady::time_point now);
    /// When `work` is next needed; news in the outbox aside.
    Steady::time_point due() const;

    /// A method that came on the publishing channel.
    Outcome serve(const amqp_method_t& method);

private:
    Outcome open();
    Outcome send(const Copy& copy);
    bool matches(std::uint64_t sequence, bool multiple) const;
    void confirmed();
    void failed(const std::string& why);

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
                     Outbox& outbox);
    ~PublisherSession();
    PublisherSession& operator=(PublisherSession&&) = delete;

    /// Why the connection was lost; none after a stop.
    std::optional<Error> run();

private:
    Outcome round(bool& more);
    Outcome serve(const amqp_frame_t& frame);
    Outcome serve_connection_method(const amqp_method_t& method);
    Outcome serve_token_method(const amqp_method_t& method);
    Outcome publish_token();
    Outcome answer_questions();
    Outcome serve_answer_method(const amqp_method_t& method);

    Connection& connection_;
    const config::Broker& broker_;
    Outbox& outbox_;
    DeadLetters dead_letters_;
    bool blocked_ = false;
    bool token_channel_open_ = false;
    bool answer_channel_open_ = false;
};

}  // namespace reaper::amqp

// The connection that publishes: dead-letter copies and serving tokens. Takes its work from
// the outbox. Internal to clients/amqp.
#pragma once

#include <optional>
#include <string>

#include "clients/amqp/amqp_connection.hpp"
#include "clients/amqp/amqp_source.hpp"
#include "clients/amqp/dead_letters.hpp"
#include "clients/amqp/outbox.hpp"

namespace reaper::amqp {

/// Life on one connection, in the publisher's thread.
class PublisherSession {
public:
    /// All references must outlive the session.
    PublisherSession(Connection& connection, const config::Broker& broker, const AmqpTuning& tuning,
                     Outbox& outbox);
    ~PublisherSession();
    PublisherSession(const PublisherSession&) = delete;
    PublisherSession& operator=(const PublisherSession&) = delete;

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

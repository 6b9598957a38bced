// The question who serves the queue, and its answer, as messages. Internal to clients/amqp; used by
// the connection's thread only.
#pragma once

#include <string>

#include "clients/amqp/active_reaper.hpp"
#include "clients/amqp/amqp_connection.hpp"
#include "clients/amqp/content.hpp"

namespace reaper::amqp {

/// Is it the question, and may it be answered? Answers go to mailboxes of the broker's alone: a
/// queue of another client that a message names gets nothing from us.
bool is_serving_question(const ContentProperties& properties);

/// Puts the question into the queue of the serving token. The channel must consume its mailbox
/// already.
Outcome ask_who_serves(Connection& connection, amqp_channel_t channel, const std::string& queue,
                       std::chrono::milliseconds patience);
/// Consumes the mailbox of the channel.
Outcome open_mailbox(Connection& connection, amqp_channel_t channel);
/// Says who we are to the client that asked, on an open channel.
Outcome answer_who_serves(Connection& connection, amqp_channel_t channel,
                          const std::string& mailbox, const ActiveReaper& who);
/// None if it is something else.
std::optional<ActiveReaper> read_answer(const ContentProperties& properties);

}  // namespace reaper::amqp

// Which of several reapers serves: the one that holds the token.
//
// Tokens are messages in a queue of their own, with one active consumer at a time: the broker gives
// them to one reaper, and to the next only when it takes that one for gone. The active one keeps a
// token in hand, unacknowledged, and sends it back to the queue (reject, requeue) again and again:
// that it comes back to us proves that, when it was sent or later, the queue had us for the active
// one. In a quorum queue a majority of its nodes agreed on that; no other question says as much (a
// look at the queue is answered by a node that is cut off, too). And it works while the broker
// takes no messages.
//
// The proof lasts for one lease from the time that the token was sent back. A reaper that gets a
// token that another had before waits for one lease before it serves: by then the other's last
// proof is over, whatever happened to it. A token that no reaper had proves nothing. A lease that
// ran out does not come back: everything begins again. Internal to clients/amqp; used by the
// connection's thread only.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "clients/amqp/amqp_connection.hpp"
#include "clients/amqp/amqp_source.hpp"
#include "clients/amqp/amqp_topology.hpp"
#include "clients/amqp/dispatcher.hpp"
#include "clients/amqp/executor_bridge.hpp"
#include "clients/amqp/frame_assembler.hpp"
#include "clients/amqp/outbox.hpp"
#include "reaper/ports/broker_console.hpp"
#include "reaper/runtime/backoff.hpp"

namespace reaper::amqp {

// The question who serves the queue, and its answer, as messages. Internal to clients/amqp; used by
// the connection's thread only.

/// Is it the question, and may it be answered? Answers go to mailboxes of the broker's alone: a
/// queue of another client that a message names gets nothing from us.
bool is_serving_question(const ContentProperties& properties);

/// Puts the question into the queue of the serving token. The channel must consume its mailbox
/// already.
Outcome ask_who_serves(Connection& connection, amqp_channel_t channel, const std::string& queue,
                       std::chrono::milliseconds patience);
/// Consumes the mailbox of the channel.
Outcome open_mailbox(Connection& connection, amqp_channel_t channel);
/// Sends our identity to the client that asked, on an open channel.
Outcome answer_who_serves(Connection& connection, amqp_channel_t channel,
                          const std::string& mailbox, const ActiveReaper& who);
/// None if it is something else.
std::optional<ActiveReaper> read_answer(const ContentProperties& properties);

/// No two have the same id.
ContentProperties new_serving_token();
/// Is it a token, of whichever reaper?
bool is_serving_token(const ContentProperties& properties);

class ServingToken {
public:
    using Time = BootClock::time_point;

    /// All references must outlive it.
    ServingToken(Connection& connection, const config::Broker& broker, const AmqpTuning& tuning,
                 Outbox& outbox);

    /// Declares the queue and consumes it, unless it does.
    Outcome open();
    bool consuming() const { return consuming_; }
    /// As the node that we are connected to sees it: does the queue have a consumer? While it is up
    /// and we consume, it has.
    Outcome look(bool& consumed);

    /// Asks for tokens and sends the one in hand back, if it is time to.
    Outcome work();
    /// When `work` is next needed.
    Steady::time_point due() const;
    /// A frame of its channel.
    Outcome serve(const amqp_frame_t& frame);

    /// When the last proof was asked for, if we serve now.
    std::optional<Time> proved() const;
    /// No proof came in time, or the broker took the token from us.
    bool lost() const { return lost_; }
    std::chrono::milliseconds lease() const { return lease_; }

    /// Begins again: the broker gives what is in hand to the next one, which may be us.
    Outcome close();
    /// At an orderly end, when nothing depends on the lease any longer: puts a token that no reaper
    /// had into the queue, so that the next one need not wait. The one in hand is given up only
    /// when the broker has confirmed that; else it goes back with the connection, and the next one
    /// waits for one lease. False: not done yet, call it again shortly.
    bool release();

private:
    struct Token {
        std::uint64_t tag = 0;
        std::string id;
        int returns = 0;  ///< how often it was sent back
    };

    void forget();
    Outcome serve_method(const amqp_method_t& method);
    Outcome take(const Message& message);
    Outcome came_back(std::uint64_t tag);
    Outcome acknowledge(std::uint64_t tag);
    Outcome send_back();
    bool ran_out(Time now) const;

    Connection& connection_;
    Outbox& outbox_;
    QueueShape queue_;
    std::chrono::milliseconds lease_;
    std::chrono::milliseconds token_delay_;
    GrowingPause token_pause_;
    FrameAssembler assembler_;

    bool consuming_ = false;
    bool lost_ = false;
    bool ending_ = false;
    Steady::time_point token_due_{};
    std::optional<Token> token_;   // in hand, or sent back
    std::optional<Time> sent_at_;  // that it was sent back, and is not here again
    std::optional<Token> newer_;   // in hand, to be kept instead
    Steady::time_point send_due_{};
    Time since_{};                // the first token came then
    Time serves_from_{};          // no proof of another reaper lasts longer
    std::optional<Time> proved_;  // the last token that came back was sent then
};

}  // namespace reaper::amqp

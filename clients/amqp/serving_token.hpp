// Finds out whether our consumer is the queue's active one: the broker does not say so, but it
// gives messages to nobody else. So a message of our own, the token, is put into the queue, again
// and again until anything is delivered to us; whoever serves the queue acknowledges it unseen.
//
// A consumer that became active stays active until it is cancelled or its channel is closed, so one
// delivery is proof until then (as long as its lease holds).
// Internal to clients/amqp; used by the connection's thread only.
#pragma once

#include <chrono>
#include <string>

#include "clients/amqp/active_reaper.hpp"
#include "clients/amqp/amqp_connection.hpp"
#include "clients/amqp/dead_letters.hpp"
#include "clients/amqp/wakeup.hpp"
#include "reaper/runtime/backoff.hpp"

namespace reaper::amqp {

/// Is it a token, of whichever reaper?
bool is_serving_token(const ContentProperties& properties);

class ServingToken {
public:
    /// References must outlive it. `delay`: until the first token; `interval`: between two at
    /// first.
    ServingToken(Connection& connection, const std::string& queue, std::chrono::milliseconds delay,
                 std::chrono::milliseconds interval);

    /// We consume, and do not know yet whether messages come to us.
    void start();
    /// We know, or consume no more.
    void stop();
    /// Puts a token into the queue, if it is time to. `may_wait`: the broker answers at present.
    Outcome work(bool may_wait);
    /// Says who we are to whoever asked (serving_question.hpp), on the token's channel.
    Outcome answer(const ContentProperties& question, const ActiveReaper& who);
    /// When `work` is next needed.
    Steady::time_point due() const;
    /// The broker closed the token's channel: we may not write to the queue.
    void channel_closed(const std::string& why);

private:
    Outcome open();

    Connection& connection_;
    const std::string& queue_;
    std::chrono::milliseconds delay_;
    GrowingPause pause_;
    std::string expiration_;  ///< milliseconds: a token that nobody takes goes by itself
    bool wanted_ = false;
    bool open_ = false;
    bool refused_told_ = false;
    Steady::time_point due_{};
};

}  // namespace reaper::amqp

// What a session asks of the connection that publishes, and what happened to it. Thread-safe; wakes
// the publisher's poll, and the session's when there is news for it.
//
// A connection of its own: a broker that is short of memory or disk stops reading from those that
// publish. On the one that consumes, acknowledgements and proofs of the lease would be stuck then.
// Internal to clients/amqp.
#pragma once

#include <deque>
#include <mutex>
#include <optional>
#include <string>

#include "clients/amqp/executor_bridge.hpp"
#include "clients/amqp/frame_assembler.hpp"

namespace reaper::amqp {

/// A message that is kept in the dead-letter queue.
struct Copy {
    DeliveryTicket ticket;  ///< of the original
    ContentProperties properties;
    Headers headers;
    std::string body;             ///< as on the wire
    std::uint64_t full_size = 0;  ///< larger than the body if that was cut
    std::string routing_key;
    std::string reason;
    int tries = 0;
};

class Outbox : public Wakeup {
public:
    /// `commands` must outlive it: originals of stored copies are acknowledged by it.
    explicit Outbox(CommandQueue& commands) : commands_(commands) {}

    // The session's side.
    void store(Copy copy);
    /// The originals are no longer ours: forget the copies.
    void forget_copies();
    /// No copy waits or is on its way.
    bool idle() const;
    /// The broker takes no messages at present.
    bool blocked() const;
    /// True once after the publisher found a queue missing.
    bool take_missing();
    /// Puts a serving token into its queue.
    void publish_token();
    /// Says in a mailbox of the broker's that this reaper serves.
    void answer(std::string mailbox);
    /// All tokens so far were confirmed or refused, or went down with the connection.
    bool tokens_settled() const;
    /// The last one that was asked for is in the queue.
    bool token_confirmed() const;
    /// Why that was refused; none: it was not.
    std::optional<std::string> token_refusal() const;

    // The publisher's side.
    std::optional<Copy> take_copy();
    bool has_copies() const;
    void stored(const Copy& copy);
    void give_back(Copy copy);
    /// Its original stays unacknowledged.
    void drop();
    void set_blocked(bool blocked);
    void queue_missing();
    bool take_token();
    /// Where a client waits to hear which reaper serves.
    std::optional<std::string> take_mailbox();
    /// What happened to the tokens that were taken.
    void token_settled(std::optional<std::string> refusal);
    void tokens_lost();

private:
    CommandQueue& commands_;
    mutable std::mutex mutex_;
    std::deque<Copy> copies_;  // at most `prefetch`
    bool on_its_way_ = false;  // one that was taken
    bool forget_taken_ = false;
    bool blocked_ = false;
    bool missing_ = false;
    std::deque<std::string> mailboxes_;
    bool token_wanted_ = false;
    bool token_on_its_way_ = false;
    bool token_confirmed_ = false;
    std::optional<std::string> token_refusal_;
};

}  // namespace reaper::amqp

// Keeps copies of messages that were set aside in the dead-letter queue. One copy is on its way at
// a time: the broker's `return` of an unroutable copy does not say which one it means.
// Internal to clients/amqp; used by the connection's thread only.
#pragma once

#include <amqp.h>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "clients/amqp/amqp_connection.hpp"
#include "clients/amqp/amqp_source.hpp"
#include "clients/amqp/command_queue.hpp"
#include "reaper/runtime/backoff.hpp"

namespace reaper::amqp {

/// The properties of a message that describe its content. Headers are not kept: with `CC` among
/// them, the broker would deliver the copy elsewhere too.
struct ContentProperties {
    std::string content_type, content_encoding, message_id, correlation_id, type, app_id;
    std::string reply_to;  ///< a copy does not have it
    std::optional<std::uint64_t> timestamp;

    static ContentProperties from(const amqp_basic_properties_t& raw);
};

/// A copy to be kept.
struct Copy {
    std::uint64_t delivery_tag = 0;  ///< of the original
    ContentProperties properties;
    std::string body;
    std::string routing_key;
    std::string reason;
    int tries = 0;
};

class DeadLetters {
public:
    DeadLetters(Connection& connection, const config::Broker& broker, const AmqpTuning& tuning);

    void add(Copy copy) { waiting_.push_back(std::move(copy)); }
    bool idle() const { return waiting_.empty() && !sent_; }
    bool blocked() const { return blocked_; }
    /// The broker answers questions. One that is short of memory stops reading from us with the
    /// first copy, and says so only then; so none is asked while a copy is on its way.
    bool answers_expected() const { return !sent_ && !blocked_; }
    /// The originals are no longer ours: forget the copies.
    void forget();
    /// The broker takes no messages at present (its memory or disk is full), or does again.
    void set_blocked(bool blocked);

    /// Sends the next copy, if it is time for it, and gives up waiting for a late confirmation.
    Outcome work(Steady::time_point now);
    /// When `work` is next needed.
    Steady::time_point due() const;

    /// The broker has stored copies up to `sequence`: the original's delivery tag, to be
    /// acknowledged.
    std::optional<std::uint64_t> confirmed(std::uint64_t sequence, bool multiple);
    /// The broker could not store it.
    void refused(std::uint64_t sequence, bool multiple);
    /// The dead-letter queue is not there.
    void returned();
    /// The publishing channel was closed on us.
    void channel_closed(const std::string& why);

private:
    Outcome open();
    Outcome send(const Copy& copy);
    bool matches(std::uint64_t sequence, bool multiple) const;
    void failed(const std::string& why);

    Connection& connection_;
    const config::Broker& broker_;
    const AmqpTuning& tuning_;
    std::deque<Copy> waiting_;  // at most `prefetch`
    std::optional<Copy> sent_;
    bool returned_ = false;
    bool blocked_ = false;
    bool open_ = false;
    std::uint64_t sequence_ = 0;  // of the last copy sent on this channel
    Steady::time_point deadline_{};
    Steady::time_point not_before_{};
    GrowingPause backoff_;
};

}  // namespace reaper::amqp

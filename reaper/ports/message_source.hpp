// Port: where Nova's notifications come from.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "reaper/model/cloud_event.hpp"
#include "reaper/runtime/task.hpp"

namespace reaper {

// Port: the stream of Nova's INFO notifications, as changes of the cloud.
//
// At most once: nothing is acknowledged, and what is sent while we are not connected is never seen.
// A listener must cope with missed, late, repeated and reordered events.

/// A change of the connection. Each time that `flowing` becomes true, a gap lies before it.
struct EventFeedState {
    bool flowing = false;
    std::string detail;  ///< which broker, or why not and when the next try is; no secrets
};

/// Messages since the start, for logs and metrics.
struct EventCounts {
    std::uint64_t received = 0;
    std::uint64_t ignored = 0;    ///< of no interest
    std::uint64_t malformed = 0;  ///< of interest, but not understood
};

class EventSource {
public:
    /// Both are called on the executor that the source was made with. Events come in batches, in
    /// the order in which they arrived.
    struct Handlers {
        std::function<void(std::vector<CloudEvent>)> events;
        std::function<void(EventFeedState)> state;
    };

    virtual ~EventSource() = default;
    /// Connects, and keeps connected, until `stop`. Returns at once.
    virtual void start(Handlers handlers) = 0;
    virtual EventCounts counts() const = 0;
    /// No handler runs afterwards.
    virtual Task<void> stop() = 0;
};

/// Names one delivery on one connection. After a reconnection the broker delivers it again under
/// a new ticket; a stale one is silently of no effect.
struct DeliveryTicket {
    std::uint64_t connection = 0;
    std::uint64_t tag = 0;
    friend auto operator<=>(const DeliveryTicket&, const DeliveryTicket&) = default;
};

struct Delivery {
    DeliveryTicket ticket;
    std::string body;  ///< unpacked, where it came compressed; else bytes as on the wire
    std::string routing_key;
    bool redelivered = false;
    std::string unreadable{};  ///< why the body can't be read; empty if it is as it should be
};

/// A change of the connection, for logs, readiness and metrics.
struct BrokerState {
    bool consuming = false;  ///< connected, queue bound, messages flow
    std::string detail;      ///< which broker, or why not and when the next try is; no secrets
    bool refused = false;    ///< no broker of the list takes our user and its password
};

class MessageSource {
public:
    /// Both are called on the executor that the source was made with.
    struct Handlers {
        std::function<void(Delivery)> message;
        std::function<void(BrokerState)> state;
    };

    virtual ~MessageSource() = default;
    /// Connects, and keeps connected, until `stop`. Returns at once.
    virtual void start(Handlers handlers) = 0;
    /// Is this delivery surely still ours? Only if its connection was seen alive so lately that the
    /// broker can't have given the message to another reaper: false after a loss of the connection,
    /// and also when nothing proves that there was none (we were frozen, or cut off).
    virtual bool holds(const DeliveryTicket& ticket) const = 0;
    /// The outcome of the message is journalled.
    virtual void acknowledge(DeliveryTicket ticket) = 0;
    /// Keeps a copy in the dead-letter queue, with the reason in its headers; the original is
    /// acknowledged only when the broker has confirmed the copy.
    virtual void set_aside(Delivery delivery, std::string reason) = 0;
    /// Not 0: the broker surely delivers the queue's messages to us, and to no other reaper on the
    /// queue. Proven like `holds`. Another number after each loss: in between, another reaper may
    /// have served it.
    virtual std::uint64_t serving() const = 0;
    /// Stops consuming, sends what acknowledgements are due, closes. No handler runs afterwards;
    /// what was not acknowledged is delivered again to the next reaper.
    virtual Task<void> stop() = 0;
};

}  // namespace reaper

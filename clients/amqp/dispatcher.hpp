// The way from the connection's thread to the handlers of messages, and the list of deliveries that
// they have not answered. Internal to clients/amqp.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <set>

#include "clients/amqp/executor_bridge.hpp"
#include "reaper/ports/message_source.hpp"

namespace reaper::amqp {

// Are the deliveries of the present connection surely still ours? Thread-safe.
// Internal to clients/amqp.
//
// They are for one lease from the time at which the last proof was requested (serving_token.hpp).
// That time counts, not the answer's: one that waited in a socket's buffer while we were frozen
// (SIGSTOP, a suspended machine) renews nothing. The clock counts the time that the machine slept.

/// Time since the machine's start, sleep included (CLOCK_BOOTTIME).
struct BootClock {
    using duration = std::chrono::nanoseconds;
    using rep = duration::rep;
    using period = duration::period;
    using time_point = std::chrono::time_point<BootClock>;
    static constexpr bool is_steady = true;
    static time_point now() noexcept;
};

/// How long a proof lasts, and how long another reaper waits before it serves: all reapers of a
/// queue have the same `heartbeat`, as agreed with the broker. Zero: none.
std::chrono::milliseconds lease_for(std::chrono::seconds heartbeat);

class ConsumerLease {
public:
    using Time = BootClock::time_point;

    /// Deliveries of `connection` are ours. No `lease`: until `end`, without further proof.
    void begin(std::uint64_t connection, Time asked,
               std::optional<std::chrono::milliseconds> lease);
    /// A proof that was asked for at `asked` has come.
    void renew(Time asked);
    void end();

    bool holds(const DeliveryTicket& ticket, Time now = BootClock::now()) const;

private:
    mutable std::mutex mutex_;
    std::uint64_t connection_ = 0;  // 0: none
    Time asked_{};
    std::optional<std::chrono::milliseconds> lease_;
};

class Dispatcher final : public ExecutorBridge {
public:
    Dispatcher(boost::asio::any_io_executor executor, MessageSource::Handlers handlers,
               std::function<void()> on_finished);

    // The thread's side.
    /// A number for tickets; deliveries under earlier ones no longer reach the handler. They are
    /// ours for `lease` from `asked` on and from each renewal; without a lease, until the end.
    std::uint64_t new_epoch(ConsumerLease::Time asked,
                            std::optional<std::chrono::milliseconds> lease);
    /// The broker has answered what we asked then.
    void renew(ConsumerLease::Time asked) { lease_.renew(asked); }
    /// No delivery is valid any longer.
    void end_epoch();
    /// The broker gives the queue's messages to us.
    void serving() { serving_epoch_ = epoch_.load(); }
    void message(Delivery delivery);
    void state(BrokerState state);

    // The executor's side.
    /// The delivery is surely still ours.
    bool holds(const DeliveryTicket& ticket) const { return lease_.holds(ticket); }
    /// The epoch in which the broker surely gives the queue's messages to us; 0: it may not.
    std::uint64_t serving_epoch() const {
        const std::uint64_t epoch = serving_epoch_;
        return lease_.holds(DeliveryTicket{epoch, 0}) ? epoch : 0;
    }
    /// True the first time that a delivery of the present epoch is answered.
    bool answer(DeliveryTicket ticket);

private:
    void forget_handlers() override { handlers_ = {}; }

    std::atomic<std::uint64_t> epoch_{0};
    std::atomic<std::uint64_t> serving_epoch_{0};
    std::uint64_t last_epoch_ = 0;  // the thread's
    ConsumerLease lease_;

    // Only used on the executor:
    MessageSource::Handlers handlers_;
    std::set<DeliveryTicket> unanswered_;  // at most `prefetch` of one epoch
};

}  // namespace reaper::amqp

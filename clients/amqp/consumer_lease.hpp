// Are the deliveries of the present connection surely still ours? Thread-safe.
// Internal to clients/amqp.
//
// The broker gives our queue to another reaper when it takes us for dead. RabbitMQ looks at each
// heartbeat interval whether any byte came from us since the last look, and closes the connection
// at the second look without one (rabbit_heartbeat.erl): between 2 and 3 intervals after the last
// byte, never sooner. A question that the broker answered proves that our bytes arrived after the
// question was begun; so until 2 intervals from that beginning nobody else has our deliveries. The
// lease is half of that, one interval: the other half is for what was sent near its end.
//
// The beginning counts, not the answer: one that waited in a socket's buffer while we were frozen
// (SIGSTOP, a suspended machine) renews nothing. The clock counts the time that the machine slept.
//
// What no lease can tell: a broker that ends the connection by itself (an operator, its timeout for
// acknowledgements, a firewall's reset) while its word on that is still on its way to us.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>

#include "reaper/ports/message_source.hpp"

namespace reaper::amqp {

/// Time since the machine's start, sleep included (CLOCK_BOOTTIME).
struct BootClock {
    using duration = std::chrono::nanoseconds;
    using rep = duration::rep;
    using period = duration::period;
    using time_point = std::chrono::time_point<BootClock>;
    static constexpr bool is_steady = true;
    static time_point now() noexcept;
};

/// How long a proof lasts; `heartbeat` as agreed with the broker, zero: it never takes us for dead.
std::chrono::milliseconds lease_for(std::chrono::seconds heartbeat);

class ConsumerLease {
public:
    using Time = BootClock::time_point;

    /// Deliveries of `connection` are ours. No `lease`: until `end`, without further proof.
    void begin(std::uint64_t connection, Time asked,
               std::optional<std::chrono::milliseconds> lease);
    /// A question that was begun at `asked` has been answered.
    void renew(Time asked);
    void end();

    bool holds(const DeliveryTicket& ticket, Time now = BootClock::now()) const;

private:
    mutable std::mutex mutex_;
    std::uint64_t connection_ = 0;  // 0: none
    Time asked_{};
    std::optional<std::chrono::milliseconds> lease_;
};

}  // namespace reaper::amqp

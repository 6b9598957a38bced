// Are the deliveries of the present connection surely still ours? Thread-safe.
// Internal to clients/amqp.
//
// They are for one lease from the time at which the last proof was requested (serving_token.hpp).
// That time counts, not the answer's: one that waited in a socket's buffer while we were frozen
// (SIGSTOP, a suspended machine) renews nothing. The clock counts the time that the machine slept.
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

}  // namespace reaper::amqp

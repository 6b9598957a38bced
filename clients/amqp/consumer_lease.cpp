#include "clients/amqp/consumer_lease.hpp"

#include <algorithm>
#include <ctime>

namespace reaper::amqp {

BootClock::time_point BootClock::now() noexcept {
    timespec time{};
    ::clock_gettime(CLOCK_BOOTTIME, &time);
    return time_point(std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec));
}

std::chrono::milliseconds lease_for(std::chrono::seconds heartbeat) {
    constexpr std::chrono::seconds longest(30);
    return heartbeat.count() > 0 ? std::min(heartbeat, longest) : longest;
}

void ConsumerLease::begin(std::uint64_t connection, Time asked,
                          std::optional<std::chrono::milliseconds> lease) {
    const std::lock_guard lock(mutex_);
    connection_ = connection;
    asked_ = asked;
    lease_ = lease;
}

void ConsumerLease::renew(Time asked) {
    const std::lock_guard lock(mutex_);
    asked_ = std::max(asked_, asked);
}

void ConsumerLease::end() {
    const std::lock_guard lock(mutex_);
    connection_ = 0;
}

bool ConsumerLease::holds(const DeliveryTicket& ticket, Time now) const {
    const std::lock_guard lock(mutex_);
    if (connection_ == 0 || ticket.connection != connection_) return false;
    return !lease_ || now - asked_ < *lease_;
}

}  // namespace reaper::amqp

#include "clients/amqp/dispatcher.hpp"

#include <algorithm>
#include <ctime>
#include <utility>

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

Dispatcher::Dispatcher(boost::asio::any_io_executor executor, MessageSource::Handlers handlers,
                       std::function<void()> on_finished)
    : ExecutorBridge(std::move(executor), std::move(on_finished)), handlers_(std::move(handlers)) {}

std::uint64_t Dispatcher::new_epoch(ConsumerLease::Time asked,
                                    std::optional<std::chrono::milliseconds> lease) {
    epoch_ = ++last_epoch_;
    lease_.begin(last_epoch_, asked, lease);
    return last_epoch_;
}

void Dispatcher::end_epoch() {
    lease_.end();
    epoch_ = 0;
}

void Dispatcher::message(Delivery delivery) {
    auto shared = std::make_shared<Delivery>(std::move(delivery));
    post([this, shared] {
        const DeliveryTicket ticket = shared->ticket;
        if (muted() || ticket.connection != epoch_ || !handlers_.message) return;
        std::erase_if(unanswered_,
                      [&](const auto& old) { return old.connection != ticket.connection; });
        unanswered_.insert(ticket);
        handlers_.message(std::move(*shared));
    });
}

void Dispatcher::state(BrokerState state) {
    post([this, state = std::move(state)] {
        if (!muted() && handlers_.state) handlers_.state(state);
    });
}

bool Dispatcher::answer(DeliveryTicket ticket) {
    return unanswered_.erase(ticket) == 1 && ticket.connection == epoch_;
}

}  // namespace reaper::amqp

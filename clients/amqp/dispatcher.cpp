#include "clients/amqp/dispatcher.hpp"

#include <utility>

namespace reaper::amqp {

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

#include "clients/amqp/outlet.hpp"

#include <boost/asio/post.hpp>
#include <utility>

namespace reaper::amqp {

Outlet::Outlet(boost::asio::any_io_executor executor, MessageSource::Handlers handlers,
               std::function<void()> on_finished)
    : executor_(std::move(executor)),
      handlers_(std::move(handlers)),
      on_finished_(std::move(on_finished)) {}

void Outlet::post(std::function<void(Outlet&)> action) {
    const std::lock_guard lock(mutex_);
    if (!open_) return;
    boost::asio::post(executor_, [self = shared_from_this(), action = std::move(action)] {
        const bool open = [&] {
            const std::lock_guard inner(self->mutex_);
            return self->open_;
        }();
        if (open) action(*self);
    });
}

std::uint64_t Outlet::new_epoch() {
    epoch_ = ++last_epoch_;
    return last_epoch_;
}

void Outlet::message(Delivery delivery) {
    auto shared = std::make_shared<Delivery>(std::move(delivery));
    post([shared](Outlet& self) {
        const DeliveryTicket ticket = shared->ticket;
        if (self.muted_ || ticket.connection != self.epoch_ || !self.handlers_.message) return;
        std::erase_if(self.unanswered_,
                      [&](const auto& old) { return old.connection != ticket.connection; });
        self.unanswered_.insert(ticket);
        self.handlers_.message(std::move(*shared));
    });
}

void Outlet::state(BrokerState state) {
    post([state = std::move(state)](Outlet& self) {
        if (!self.muted_ && self.handlers_.state) self.handlers_.state(state);
    });
}

void Outlet::finished() {
    post([](Outlet& self) { self.on_finished_(); });
}

bool Outlet::answer(DeliveryTicket ticket) {
    return unanswered_.erase(ticket) == 1 && ticket.connection == epoch_;
}

void Outlet::close() {
    {
        const std::lock_guard lock(mutex_);
        open_ = false;
        executor_ = {};
    }
    handlers_ = {};
    on_finished_ = {};
}

}  // namespace reaper::amqp

// The way from the connection's thread to the handlers of messages, and the list of deliveries that
// they have not answered. Internal to clients/amqp.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <set>

#include "clients/amqp/gate.hpp"
#include "reaper/ports/message_source.hpp"

namespace reaper::amqp {

class Outlet final : public Gate {
public:
    Outlet(boost::asio::any_io_executor executor, MessageSource::Handlers handlers,
           std::function<void()> on_finished);

    // The thread's side.
    /// A number for tickets; deliveries under earlier ones no longer reach the handler.
    std::uint64_t new_epoch();
    /// No delivery is valid any more.
    void end_epoch() { epoch_ = 0; }
    void message(Delivery delivery);
    void state(BrokerState state);

    // The executor's side.
    /// True the first time that a delivery of the present epoch is answered.
    bool answer(DeliveryTicket ticket);
    /// Is it of the present epoch?
    bool present(const DeliveryTicket& ticket) const { return ticket.connection == epoch_; }

private:
    void forget_handlers() override { handlers_ = {}; }

    std::atomic<std::uint64_t> epoch_{0};
    std::uint64_t last_epoch_ = 0;  // the thread's

    // Only used on the executor:
    MessageSource::Handlers handlers_;
    std::set<DeliveryTicket> unanswered_;  // at most `prefetch` of one epoch
};

}  // namespace reaper::amqp

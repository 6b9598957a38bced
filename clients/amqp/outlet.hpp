// The way from the connection's thread to the handlers on the executor, and the list of deliveries
// that they have not answered. Once closed, nothing passes any more, so the thread may outlive
// source, handlers and executor. Internal to clients/amqp.
#pragma once

#include <atomic>
#include <boost/asio/any_io_executor.hpp>
#include <functional>
#include <memory>
#include <mutex>
#include <set>

#include "reaper/ports/message_source.hpp"

namespace reaper::amqp {

class Outlet : public std::enable_shared_from_this<Outlet> {
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
    void finished();

    // The executor's side.
    /// True the first time that a delivery of the present epoch is answered.
    bool answer(DeliveryTicket ticket);
    /// Messages and states are dropped from now on.
    void mute() { muted_ = true; }
    /// Nothing is posted from now on, and what is posted already does nothing.
    void close();

private:
    void post(std::function<void(Outlet&)> action);

    std::mutex mutex_;  // guards open_, while something is posted
    bool open_ = true;
    boost::asio::any_io_executor executor_;
    std::atomic<std::uint64_t> epoch_{0};
    std::uint64_t last_epoch_ = 0;  // the thread's

    // Only used on the executor:
    MessageSource::Handlers handlers_;
    std::function<void()> on_finished_;
    bool muted_ = false;
    std::set<DeliveryTicket> unanswered_;  // at most `prefetch` of one epoch
};

}  // namespace reaper::amqp

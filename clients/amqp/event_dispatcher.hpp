// The way from the connection's thread to the handlers of events, with a bound on how many batches
// are on it. Internal to clients/amqp.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "clients/amqp/executor_bridge.hpp"
#include "clients/amqp/wakeup.hpp"
#include "reaper/ports/event_source.hpp"

namespace reaper::amqp {

class EventDispatcher final : public ExecutorBridge {
public:
    /// The thread is woken each time that a batch was handled.
    EventDispatcher(boost::asio::any_io_executor executor, EventSource::Handlers handlers,
                    std::function<void()> on_finished, std::shared_ptr<Wakeup> thread, int most);

    // The thread's side.
    /// No further batch should be sent now.
    bool full() const { return in_flight_ >= max_; }
    void events(std::vector<CloudEvent> batch);
    void state(EventFeedState state);

private:
    void forget_handlers() override { handlers_ = {}; }

    std::shared_ptr<Wakeup> thread_;
    const int max_;
    std::atomic<int> in_flight_{0};
    EventSource::Handlers handlers_;  // only used on the executor
};

}  // namespace reaper::amqp

#include "clients/amqp/event_dispatcher.hpp"

#include <utility>

namespace reaper::amqp {

EventDispatcher::EventDispatcher(boost::asio::any_io_executor executor,
                                 EventSource::Handlers handlers, std::function<void()> on_finished,
                                 std::shared_ptr<Wakeup> thread, int most)
    : ExecutorBridge(std::move(executor), std::move(on_finished)),
      thread_(std::move(thread)),
      max_(most),
      handlers_(std::move(handlers)) {}

void EventDispatcher::events(std::vector<CloudEvent> batch) {
    ++in_flight_;
    auto shared = std::make_shared<std::vector<CloudEvent>>(std::move(batch));
    post([this, shared] {
        if (!muted() && handlers_.events) handlers_.events(std::move(*shared));
        --in_flight_;
        thread_->wake();
    });
}

void EventDispatcher::state(EventFeedState state) {
    post([this, state = std::move(state)] {
        if (!muted() && handlers_.state) handlers_.state(state);
    });
}

}  // namespace reaper::amqp

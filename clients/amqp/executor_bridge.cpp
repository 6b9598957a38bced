#include "clients/amqp/executor_bridge.hpp"

#include <boost/asio/post.hpp>
#include <utility>

namespace reaper::amqp {

ExecutorBridge::ExecutorBridge(boost::asio::any_io_executor executor,
                               std::function<void()> on_finished)
    : executor_(std::move(executor)), on_finished_(std::move(on_finished)) {}

void ExecutorBridge::post(std::function<void()> action) {
    const std::lock_guard lock(mutex_);
    if (!open_) return;
    boost::asio::post(executor_, [self = shared_from_this(), action = std::move(action)] {
        const bool open = [&] {
            const std::lock_guard inner(self->mutex_);
            return self->open_;
        }();
        if (open) action();
    });
}

void ExecutorBridge::finished() {
    post([this] { on_finished_(); });
}

void ExecutorBridge::close() {
    {
        const std::lock_guard lock(mutex_);
        open_ = false;
        executor_ = {};
    }
    forget_handlers();
    on_finished_ = {};
}

}  // namespace reaper::amqp

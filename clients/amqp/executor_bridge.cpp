#include "clients/amqp/executor_bridge.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <cerrno>
#include <poll.h>
#include <sys/eventfd.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace reaper::amqp {

void CommandQueue::push(Command command) {
    {
        const std::lock_guard lock(mutex_);
        commands_.push_back(std::move(command));
    }
    wake();
}

std::vector<Command> CommandQueue::take() {
    seen();
    const std::lock_guard lock(mutex_);
    return std::exchange(commands_, {});
}

Wakeup::Wakeup() : fd_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
    if (fd_ < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
}

Wakeup::~Wakeup() {
    ::close(fd_);
}

void Wakeup::wake() const {
    // Can only fail when the counter is at its limit, and then the thread is awake anyway.
    [[maybe_unused]] const int done = ::eventfd_write(fd_, 1);
}

void Wakeup::seen() const {
    eventfd_t count = 0;
    [[maybe_unused]] const int done = ::eventfd_read(fd_, &count);
}

void Wakeup::request_stop(Steady::time_point deadline) {
    {
        const std::lock_guard lock(mutex_);
        if (!stop_) stop_ = deadline;
    }
    wake();
}

std::optional<Steady::time_point> Wakeup::stop_deadline() const {
    const std::lock_guard lock(mutex_);
    return stop_;
}

void Wakeup::sleep_until(Steady::time_point time) const {
    while (!stop_deadline() && Steady::now() < time) {
        pollfd wait{fd_, POLLIN, 0};
        ::poll(&wait, 1, poll_timeout(time, std::chrono::seconds(60)));
        seen();
    }
}

int poll_timeout(Steady::time_point time, std::chrono::milliseconds most) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(time - Steady::now());
    return static_cast<int>(std::clamp(left, std::chrono::milliseconds(0), most).count());
}

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

#include "clients/amqp/command_queue.hpp"

#include <algorithm>
#include <cerrno>
#include <poll.h>
#include <sys/eventfd.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace reaper::amqp {

CommandQueue::CommandQueue() : wake_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
    if (wake_ < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
}

CommandQueue::~CommandQueue() {
    ::close(wake_);
}

void CommandQueue::wake() const {
    // Can only fail when the counter is at its limit, and then the thread is awake anyway.
    [[maybe_unused]] const int done = ::eventfd_write(wake_, 1);
}

void CommandQueue::push(Command command) {
    {
        const std::lock_guard lock(mutex_);
        commands_.push_back(std::move(command));
    }
    wake();
}

std::vector<Command> CommandQueue::take() {
    eventfd_t count = 0;
    [[maybe_unused]] const int done = ::eventfd_read(wake_, &count);
    const std::lock_guard lock(mutex_);
    return std::exchange(commands_, {});
}

void CommandQueue::request_stop(Steady::time_point deadline) {
    {
        const std::lock_guard lock(mutex_);
        if (!stop_) stop_ = deadline;
    }
    wake();
}

std::optional<Steady::time_point> CommandQueue::stop_deadline() const {
    const std::lock_guard lock(mutex_);
    return stop_;
}

void CommandQueue::sleep_until(Steady::time_point time) {
    while (!stop_deadline() && Steady::now() < time) {
        pollfd wait{wake_, POLLIN, 0};
        ::poll(&wait, 1, poll_timeout(time, std::chrono::seconds(60)));
        take();
    }
}

int poll_timeout(Steady::time_point time, std::chrono::milliseconds most) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(time - Steady::now());
    return static_cast<int>(std::clamp(left, std::chrono::milliseconds(0), most).count());
}

}  // namespace reaper::amqp

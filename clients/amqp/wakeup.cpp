#include "clients/amqp/wakeup.hpp"

#include <algorithm>
#include <cerrno>
#include <poll.h>
#include <sys/eventfd.h>
#include <system_error>
#include <unistd.h>

namespace reaper::amqp {

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

}  // namespace reaper::amqp

// Small tools over coroutines of one thread: a semaphore, a fan-out, and a wait with backoff.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/experimental/channel.hpp>
#include <cstddef>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "reaper/runtime/task.hpp"

namespace reaper {

/// At most `permits` holders at a time; the others wait in order.
class AsyncSemaphore {
public:
    using Slots = boost::asio::experimental::channel<void(boost::system::error_code)>;

    AsyncSemaphore(const boost::asio::any_io_executor& executor, int permits);

    /// Gives its place back when it is destroyed.
    class Permit {
    public:
        explicit Permit(std::shared_ptr<Slots> slots) : slots_(std::move(slots)) {}
        Permit(Permit&&) = default;
        Permit& operator=(Permit&&) = delete;
        ~Permit();

    private:
        std::shared_ptr<Slots> slots_;  // a permit may outlive the semaphore
    };

    Task<Permit> acquire();

private:
    std::shared_ptr<Slots> slots_;
};

/// Runs all tasks at once and returns when the last one is done. The first exception of any of
/// them is thrown then.
Task<void> run_all(std::vector<Task<void>> tasks);
/// The same, so many side by side.
Task<void> run_all(std::vector<Task<void>> tasks, std::size_t at_a_time);

/// For run_all: keeps what a task returns. `into` must live until then.
template <class T>
Task<void> keep(Task<T> task, std::optional<T>& into) {
    into = co_await std::move(task);
}

/// The same for a task that may outlive its caller.
template <class T>
Task<void> keep_shared(Task<T> task, std::shared_ptr<std::optional<T>> into) {
    *into = co_await std::move(task);
}

}  // namespace reaper

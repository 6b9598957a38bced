// Small tools over coroutines of one thread: a semaphore, a fan-out, and a wait with backoff.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/experimental/channel.hpp>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "reaper/ports/task.hpp"

namespace reaper {

/// At most `permits` holders at a time; the others wait in order. Must outlive its permits.
class AsyncSemaphore {
public:
    AsyncSemaphore(const boost::asio::any_io_executor& executor, int permits);

    /// Gives its place back when it dies.
    class Permit {
    public:
        explicit Permit(AsyncSemaphore& owner) : owner_(&owner) {}
        Permit(Permit&& other) noexcept : owner_(std::exchange(other.owner_, nullptr)) {}
        Permit& operator=(Permit&&) = delete;
        ~Permit();

    private:
        AsyncSemaphore* owner_;
    };

    Task<Permit> acquire();

private:
    using Slots = boost::asio::experimental::channel<void(boost::system::error_code)>;
    Slots slots_;
};

/// Runs all tasks at once and returns when the last one is done. The first exception of any of
/// them is thrown then.
Task<void> run_all(std::vector<Task<void>> tasks);

/// For run_all: keeps what a task returns. `into` must live until then.
template <class T>
Task<void> keep(Task<T> task, std::optional<T>& into) {
    into = co_await std::move(task);
}

}  // namespace reaper

// How the executor's side wakes the connection's thread and tells it to end. Thread-safe.
// Internal to clients/amqp.
#pragma once

#include <chrono>
#include <mutex>
#include <optional>

namespace reaper::amqp {

using Steady = std::chrono::steady_clock;

class Wakeup {
public:
    Wakeup();
    ~Wakeup();
    Wakeup(const Wakeup&) = delete;
    Wakeup& operator=(const Wakeup&) = delete;

    void wake() const;
    /// The thread has seen the wake-up.
    void seen() const;
    /// Becomes readable when there is something to do.
    int wake_fd() const { return fd_; }

    /// Asks the thread to end, by `deadline`; only the first call counts.
    void request_stop(Steady::time_point deadline);
    std::optional<Steady::time_point> stop_deadline() const;
    /// Sleeps until then or until a stop is asked for.
    void sleep_until(Steady::time_point time) const;

private:
    mutable std::mutex mutex_;
    std::optional<Steady::time_point> stop_;
    int fd_;
};

/// Milliseconds until `time` for poll(2), within [0, most].
int poll_timeout(Steady::time_point time, std::chrono::milliseconds most);

}  // namespace reaper::amqp

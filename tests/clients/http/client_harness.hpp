// What the tests of network clients share: bounded runs, a clock moved by hand, captured logs.
#pragma once

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "reaper/runtime/clock.hpp"
#include "reaper/runtime/task.hpp"
#include "tests/support/log_capture.hpp"

namespace reaper::test {

/// How long a test waits for what must come. Only what never comes takes that long.
constexpr std::chrono::minutes patience(4);

/// Runs the context until the condition holds; false if it never does.
inline bool run_until(boost::asio::io_context& io, const std::function<bool()>& condition) {
    const auto end = std::chrono::steady_clock::now() + patience;
    io.restart();
    while (!condition() && std::chrono::steady_clock::now() < end)
        if (io.run_one_until(end) == 0) break;
    return condition();
}

/// A coroutine that was started, and what came of it.
template <class T>
struct Started {
    std::optional<T> value;
    std::exception_ptr paused_reason;
    bool done() const { return value || paused_reason; }
};

template <class T>
std::shared_ptr<Started<T>> start(boost::asio::io_context& io, Task<T> task) {
    auto started = std::make_shared<Started<T>>();
    const auto keep = [started](std::exception_ptr paused_reason, T value) {
        if (paused_reason)
            started->paused_reason = paused_reason;
        else
            started->value = std::move(value);
    };
    boost::asio::co_spawn(io, std::move(task), keep);
    return started;
}

template <class T>
T finish(boost::asio::io_context& io, const std::shared_ptr<Started<T>>& started) {
    if (!run_until(io, [&] { return started->done(); }))
        throw std::runtime_error("the coroutine did not end in time");
    if (started->paused_reason) std::rethrow_exception(started->paused_reason);
    return std::move(*started->value);
}

template <class T>
T run(boost::asio::io_context& io, Task<T> task) {
    return finish(io, start(io, std::move(task)));
}

/// Time stands still but for sleeps, which pass at once and are recorded.
class ManualClock final : public Clock {
public:
    explicit ManualClock(boost::asio::io_context& io, TimePoint start) : io_(io), now_(start) {}

    TimePoint now() const override { return now_; }
    Duration steady() const override { return now_.time_since_epoch(); }
    Task<void> sleep(Duration duration) override {
        sleeps.push_back(duration);
        now_ += duration;
        co_await boost::asio::post(io_, boost::asio::use_awaitable);
    }
    void set(TimePoint time) { now_ = time; }
    void advance(Duration duration) { now_ += duration; }

    std::vector<Duration> sleeps;

private:
    boost::asio::io_context& io_;
    TimePoint now_;
};

}  // namespace reaper::test

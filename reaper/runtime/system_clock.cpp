#include "reaper/runtime/system_clock.hpp"

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <utility>

namespace reaper {

namespace {

class SystemClock final : public Clock {
public:
    explicit SystemClock(boost::asio::any_io_executor executor) : executor_(std::move(executor)) {}

    TimePoint now() const override {
        return std::chrono::floor<Duration>(std::chrono::system_clock::now());
    }

    Duration steady() const override {
        return std::chrono::floor<Duration>(std::chrono::steady_clock::now().time_since_epoch());
    }

    Task<void> sleep(Duration duration) override {
        // Steady: a step of the system's time must not stretch or cut a pause.
        boost::asio::steady_timer timer(executor_, duration);
        co_await timer.async_wait(boost::asio::use_awaitable);
    }

private:
    boost::asio::any_io_executor executor_;
};

}  // namespace

std::unique_ptr<Clock> make_system_clock(boost::asio::any_io_executor executor) {
    return std::make_unique<SystemClock>(std::move(executor));
}

}  // namespace reaper

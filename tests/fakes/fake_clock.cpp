#include "fakes/fake_clock.hpp"

#include <algorithm>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace reaper::test {

Task<void> FakeClock::sleep(Duration duration) {
    const boost::asio::any_io_executor executor = co_await boost::asio::this_coro::executor;
    const auto alarm = std::make_shared<Alarm>(executor, 1);
    sleepers_.emplace(now_ + duration, alarm);
    co_await alarm->async_receive(boost::asio::use_awaitable);
}

bool FakeClock::wake_next() {
    if (sleepers_.empty()) return false;
    const auto first = sleepers_.begin();
    now_ = std::max(now_, first->first);
    first->second->try_send(boost::system::error_code{});
    sleepers_.erase(first);
    return true;
}

bool FakeClock::run_until(boost::asio::io_context& io, const std::function<bool()>& done,
                          Duration limit) {
    const TimePoint end = now_ + limit;
    while (true) {
        io.restart();
        while (io.poll_one() > 0)
            if (done()) return true;
        if (done()) return true;
        if (now_ > end || !wake_next()) return false;
    }
}

}  // namespace reaper::test

#include "faults/schedules/timeline.hpp"

#include <algorithm>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace reaper::faults {

Task<void> Timeline::sleep(Duration duration) {
    const boost::asio::any_io_executor executor = co_await boost::asio::this_coro::executor;
    const auto alarm = std::make_shared<Alarm>(executor, 1);
    const auto when = true_ + std::max(duration, Duration::zero());
    agenda_.emplace(std::pair{when, order_++}, Entry{{}, alarm});
    co_await alarm->async_receive(boost::asio::use_awaitable);
}

void Timeline::at(TimePoint time, std::function<void()> action) {
    agenda_.emplace(std::pair{std::max(time, true_), order_++}, Entry{std::move(action), {}});
}

std::optional<TimePoint> Timeline::next() const {
    if (agenda_.empty()) return std::nullopt;
    return agenda_.begin()->first.first;
}

bool Timeline::run_due() {
    if (agenda_.empty() || agenda_.begin()->first.first > true_) return false;
    const Entry entry = std::move(agenda_.begin()->second);
    agenda_.erase(agenda_.begin());
    if (entry.action)
        entry.action();
    else
        entry.alarm->try_send(boost::system::error_code{});
    return true;
}

void Timeline::forget_sleepers(const boost::asio::execution_context& process) {
    std::erase_if(agenda_, [&](const auto& entry) {
        return !entry.second.action &&
               &boost::asio::query(entry.second.alarm->get_executor(),
                                   boost::asio::execution::context) == &process;
    });
}

}  // namespace reaper::faults

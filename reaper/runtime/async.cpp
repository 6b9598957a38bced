#include "reaper/runtime/async.hpp"

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <exception>

namespace reaper {

namespace asio = boost::asio;
using boost::system::error_code;

AsyncSemaphore::AsyncSemaphore(const asio::any_io_executor& executor, int permits)
    : slots_(std::make_shared<Slots>(executor, static_cast<std::size_t>(permits))) {}

AsyncSemaphore::Permit::~Permit() {
    if (slots_) slots_->try_receive([](error_code) {});
}

Task<AsyncSemaphore::Permit> AsyncSemaphore::acquire() {
    const auto slots = slots_;
    const error_code taken;
    co_await slots->async_send(taken, asio::use_awaitable);
    co_return Permit{slots};
}

namespace {

struct FanOut {
    FanOut(const asio::any_io_executor& executor, std::size_t count)
        : remaining(count), done(executor, 1) {}

    void one_finished(std::exception_ptr error) {
        if (error && !first_error) first_error = error;
        if (--remaining == 0) done.try_send(error_code{});
    }

    std::size_t remaining;
    std::exception_ptr first_error;
    asio::experimental::channel<void(error_code)> done;
};

}  // namespace

Task<void> run_all(std::vector<Task<void>> tasks) {
    if (tasks.empty()) co_return;
    const asio::any_io_executor executor = co_await asio::this_coro::executor;
    const auto fan_out = std::make_shared<FanOut>(executor, tasks.size());
    for (auto& task : tasks)
        asio::co_spawn(executor, std::move(task),
                       [fan_out](std::exception_ptr error) { fan_out->one_finished(error); });
    co_await fan_out->done.async_receive(asio::use_awaitable);
    if (fan_out->first_error) std::rethrow_exception(fan_out->first_error);
}

Task<void> run_all(std::vector<Task<void>> tasks, std::size_t at_a_time) {
    for (std::size_t from = 0; from < tasks.size(); from += at_a_time) {
        std::vector<Task<void>> some;
        for (std::size_t i = from; i < std::min(from + at_a_time, tasks.size()); ++i)
            some.push_back(std::move(tasks[i]));
        co_await run_all(std::move(some));
    }
}

}  // namespace reaper

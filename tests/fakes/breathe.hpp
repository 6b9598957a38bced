// Lets all other tasks run first, as any real call does: so that calls interleave, and a test can
// end a process between any two of them.
#pragma once

#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "reaper/runtime/task.hpp"

namespace reaper::test {

inline Task<void> breathe() {
    const boost::asio::any_io_executor executor = co_await boost::asio::this_coro::executor;
    co_await boost::asio::post(executor, boost::asio::use_awaitable);
}

}  // namespace reaper::test
